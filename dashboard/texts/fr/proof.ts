import type { ProofTexts } from '../en/proof.ts'
import { count } from './write.ts'

const readings = { one: 'mesure', other: 'mesures' }

export const proof: ProofTexts = {
  title: 'Preuve d’une mesure',
  checkTitle: 'Vérifier une preuve',
  intro:
    'Les mesures sont ancrées par lots dans une chaîne de blocs. Une preuve est un petit fichier. Votre navigateur le vérifie ici lui-même ; il n’est envoyé nulle part.',
  testChain:
    'Chaîne de test locale, non publique : ici, les preuves ne servent qu’à la démonstration.',
  testChainShort: 'chaîne de test',
  chain: (name, isTest) => (isTest ? `${name}, une chaîne de test locale` : name),
  chainNumber: (id) => `chaîne ${id}`,
  backToOwn: 'Revenir à la preuve de cette mesure',
  checking: 'Vérification dans votre navigateur…',
  asking: 'Demande de la preuve…',
  noVerifier:
    'Le vérificateur n’a pas pu être chargé. Vérifiez la connexion, puis rechargez la page.',
  certificate: 'Certificat d’une mesure',

  verdict: {
    matches: 'Conforme à ce réseau et à un bloc que vous avez confirmé',
    consistent: 'Cohérente – bloc pas encore confirmé',
    unpinned: 'Cohérente – réseau et bloc non confirmés',
    foreign: 'Preuve valide, mais d’un autre réseau',
    invalid: 'Non valide',
  },
  verdictWords: {
    matches: (block) =>
      `Ce réseau a ancré exactement ces valeurs dans le bloc ${block}, qui fait partie de la chaîne. Elles n’ont pas changé depuis.`,
    consistent: (block) =>
      `Les valeurs concordent avec cette preuve, qui mène au contrat de ce réseau dans le bloc ${block}. Il reste une étape : confirmer que ce bloc fait vraiment partie de la chaîne. D’ici là, elles sont plausibles, pas prouvées.`,
    unpinned: (block) =>
      `Tout concorde dans cette preuve, jusqu’au bloc ${block}. La fiche de ce réseau n’a pas pu être chargée : on ne sait donc pas de quel réseau vient la preuve.`,
    foreign: (contract, chain) =>
      `Tout concorde dans cette preuve, mais elle vient du contrat ${contract} (${chain}), qui n’est pas de ce réseau. Elle ne dit rien des capteurs de ce réseau.`,
  },
  invalid: {
    format: 'Ce fichier n’est pas une preuve airproof, ou il a été modifié.',
    newer:
      'Cette preuve est d’une version plus récente que celles que cette page connaît. Utilisez un vérificateur plus récent.',
    tooLarge: 'Ce fichier est trop grand pour une preuve, qui fait environ 8 ko.',
    notJson: 'Ce fichier n’est pas une preuve airproof : ce n’est pas du JSON.',
    network: 'Ce fichier décrit un réseau. Ce n’est pas la preuve d’une mesure.',
    pins: 'Il nomme le contrat de ce réseau, mais se trouve hors de ce que ce contrat contient.',
    leaf: 'Les valeurs de ce fichier ne donnent pas son empreinte : elles ont été changées après l’ancrage.',
    'signed text': 'Ce que le capteur a signé n’est pas cette mesure.',
    signature: 'La clé du capteur n’a pas signé cette mesure.',
    path: 'L’empreinte ne mène pas à son lot.',
    batch: 'Les comptes du lot ne vont pas avec cette mesure.',
    head: 'Le lot ne suit pas celui qui le précède.',
    block: 'Le bloc n’est pas celui qu’il prétend être.',
    transaction: 'Le bloc ne contient pas la transaction qui a ancré le lot.',
    receipt: 'La transaction a échoué, ou le contrat n’a pas enregistré le lot.',
    'trusted block': 'Elle est dans un autre bloc que celui que vous avez indiqué.',
    node: 'Le nœud interrogé a un autre bloc à cette place.',
    code: 'Le code du contrat n’est pas celui de ce réseau.',
  },
  expectedIs: { expected: 'Dans le fichier', found: 'D’après les valeurs' },

  path: {
    label: 'Du capteur au bloc',
    sensor: 'Capteur',
    accepted: 'Acceptée',
    batch: 'Lot',
    block: 'Bloc',
    signed: 'Signée par sa clé',
    signatureUnchecked: 'Signée ; ce navigateur ne peut pas le vérifier',
    unsigned: 'Non signée',
    fits: 'Les valeurs donnent l’empreinte',
    changed: 'Les valeurs ne concordent pas',
    number: (n) => `Mesure n° ${n}`,
    batchNumber: (n) => `Lot ${n}`,
    complete: (n) => `${count(n, readings)}, aucune ne manque`,
    counted: (n) => count(n, readings),
    blockNumber: (n) => `Bloc ${n}`,
    confirmed: 'Confirmé par vous',
    notConfirmed: 'Pas encore confirmé',
    waiting: 'En attente',
    next: 'Ensuite',
    done: 'vérifié',
    failed: 'non valide',
    open: 'non vérifié',
  },

  time: {
    title: 'Quand',
    measured: 'Mesurée',
    measuredBy: 'selon l’horloge du capteur',
    sealed: 'Lot scellé',
    sealedBy: 'selon l’horloge de l’opérateur',
    notBefore: 'Scellé au plus tôt',
    notAfter: 'Existait au plus tard',
    ofBlock: (n) => `bloc ${n}`,
    unknownTime: (hash) => `heure du bloc ${hash} : interrogez un nœud`,
    noBeacon: 'non consigné',
    clocksDiffer:
      'L’heure du bloc précède celle de la mesure : l’une des horloges n’est pas à l’heure.',
  },

  valuesMatch: 'Ces valeurs correspondent à l’empreinte qui a été ancrée.',
  values: 'Ce qui a été mesuré',
  sensor: 'Capteur',
  area: 'Zone',
  index: 'IQA de cette mesure',

  statements: {
    title: 'Ce qui est prouvé, et ce qu’il vous reste à croire',
    proven: 'Prouvé',
    trust: 'À croire',
    existed: (block) =>
      `Elle existait avec exactement ces valeurs quand le bloc ${block} a été créé.`,
    unchanged: 'Ses valeurs n’ont pas changé depuis.',
    ofNetwork: 'Elle a été ancrée par le contrat de ce réseau.',
    unique: 'Aucune autre mesure ne porte son numéro, et aucune n’a été omise avant elle.',
    signedBy: (key) => `Elle a été signée par le détenteur de la clé ${key}.`,
    blockReal: (block) => `Le bloc ${block} fait partie de la chaîne.`,
    codeIs: 'Le contrat a le code de ce réseau.',
  },
  trusts: {
    demonstration:
      'L’heure du bloc : sur une chaîne de test locale, l’opérateur peut mettre n’importe quelle heure.',
    nodeTransaction: 'Le nœud dit la vérité sur la transaction.',
    block: (block) =>
      `Le bloc ${block} est réel. Comparez son empreinte dans un explorateur de blocs.`,
    nodeBlock: 'Le nœud dit la vérité sur le bloc.',
    contract: 'Le contrat est celui du réseau auquel vous pensez.',
    code: 'Le contrat a le code qui ne prend aucun numéro deux fois et n’en omet aucun.',
    range: 'Aucun autre contrat de ce réseau ne contient une mesure du même numéro.',
    begin: 'Le contrat a commencé là où la fiche de ce réseau le dit.',
    beforeBegin: 'Rien n’a été omis avant le début du contrat.',
    measured:
      'Le capteur a mesuré ce qu’il a envoyé : la preuve commence quand la mesure est acceptée.',
    index: 'L’indice (IQA) est celui de ces valeurs : c’est l’opérateur qui le calcule.',
    complete:
      'Aucune autre mesure n’a le même numéro, et le lot en contient autant qu’il en compte.',
    second: 'Le capteur n’a pas de seconde mesure de la même heure sous un autre numéro.',
    unsigned:
      'Le capteur l’a envoyée : elle n’est pas signée, l’opérateur aurait donc pu l’inventer.',
    key: 'La clé qui l’a signée est celle du capteur.',
    signatureUnchecked:
      'La clé du capteur l’a signée : ce navigateur n’a pas pu vérifier la signature.',
    laterValues: 'Les valeurs sans nom sont celles qui ont été signées.',
    strange: 'Rien de ce qui a été signé sous un autre nom n’a été omis.',
    notBefore: (hash) => `« Au plus tôt » : ${hash} est un bloc de la chaîne.`,
    ownNetwork:
      'Cette page nomme le contrat du réseau, et elle vient de l’opérateur. Comparez ce contrat à celui que vous connaissez d’ailleurs, ou vérifiez hors ligne.',
  },

  confirm: {
    title: 'Confirmer le bloc',
    why: 'N’importe qui peut fabriquer un bloc. Demandez à un nœud de confiance si celui-ci fait partie de la chaîne.',
    node: 'Adresse d’un nœud public de la chaîne',
    nodeHint: 'Seul ce nœud est interrogé, depuis votre navigateur. Rien d’autre n’est envoyé.',
    ask: 'Interroger ce nœud',
    asking: 'Interrogation…',
    wrongAddress: 'L’adresse d’un nœud commence par https:// (ou http://localhost).',
    hash: 'Ou comparez l’empreinte du bloc : collez-la depuis une source de confiance',
    hashHint: 'Par exemple depuis l’explorateur de blocs de votre choix.',
    wrongHash: 'Une empreinte se compose de 0x et de 64 chiffres hexadécimaux.',
    confirmedBy: (host) =>
      `${host} dit que le bloc fait partie de la chaîne et qu’il est définitif.`,
    noAnswer: (host) =>
      `${host} est injoignable ou ne répond pas aux pages web. Essayez un autre nœud, ou vérifiez hors ligne.`,
    otherChain: (host) => `${host} est un nœud d’une autre chaîne. Indiquez-en un de cette chaîne.`,
    notFinal: (host) =>
      `${host} connaît le bloc, mais il n’est pas encore définitif. Redemandez plus tard.`,
    explorer: 'Voir la transaction dans un explorateur de blocs',
  },

  checks: {
    title: 'Tout ce que votre navigateur a vérifié',
    held: 'Oui',
    failed: 'Non',
    notAsked: 'Non demandé',
    format: 'Format du fichier : preuve airproof',
    pins: 'Réseau : ancrée par le contrat de ce réseau',
    leaf: 'Les valeurs donnent l’empreinte',
    'signed text': 'Le capteur a signé ces valeurs',
    signature: 'La signature va avec la clé',
    path: 'L’empreinte est dans le lot',
    batch: 'Lot complet : ses numéros se suivent',
    head: 'Le lot suit celui qui le précède',
    block: 'Le bloc est celui qu’il prétend être',
    transaction: 'Le bloc contient la transaction',
    receipt: 'Transaction réussie',
    'trusted block': 'C’est le bloc que vous avez indiqué',
    node: 'Un nœud connaît le bloc',
    code: 'Le code du contrat',
  },

  details: {
    title: 'Où elle est ancrée',
    chain: 'Chaîne',
    block: 'Bloc',
    blockHash: 'Empreinte du bloc',
    contract: 'Contrat',
    transaction: 'Transaction',
    fingerprint: 'Empreinte',
    copy: (what) => `Copier : ${what}`,
    copied: 'Copié',
    copyFailed: 'Copiez à la main : ce n’est pas permis ici',
  },

  share: {
    title: 'Transmettre',
    link: 'Lien vers cette preuve',
    copy: 'Copier le lien',
    copyProof: 'Copier le lien vers la preuve',
    qr: 'Code QR du lien vers cette preuve',
    download: 'Télécharger la preuve',
    print: 'Imprimer',
    printed: (utc) => `Vérifié dans un navigateur le ${utc} UTC.`,
  },

  offline: {
    title: 'Vérifier hors ligne',
    words:
      'Cette page utilise {verifier}, qui n’a besoin d’aucun serveur. Gardez-le avec la preuve et la {network:fiche de ce réseau} : ils restent valables sans ce service.',
    command: 'Commande qui vérifie une preuve',
  },

  drop: {
    title: 'Vérifier un fichier',
    label: 'Déposez un fichier .airproof.json n’importe où sur cette page, ou choisissez-en un',
    unreadable: 'Ce fichier ne peut pas être lu.',
    file: (name) => `Fichier : ${name}`,
  },

  waiting: {
    title: 'En attente d’ancrage',
    onItsWay: 'En route vers la chaîne de blocs',
    words:
      'Les mesures sont ancrées par lots, toutes les quelques minutes. Mise à jour automatique.',
    newest: 'Voir la dernière mesure ancrée de ce capteur',
    expected: 'Prévu dans',
    by: 'Prévu pour',
    anyMoment: 'd’un instant à l’autre',
    offline: 'Les données en direct sont indisponibles. Nouvelles tentatives en cours.',
    reasons: {
      sealed: 'Son lot est scellé et sera envoyé à la chaîne de blocs.',
      sent: 'Son lot a été envoyé et attend un bloc.',
      mined: 'Son lot est dans un bloc. Encore quelques blocs et il sera définitif.',
      not_checked: 'La chaîne n’a pas pu être consultée depuis cinq minutes.',
      not_linked:
        'Les lots ne mènent pas à ce que contient le contrat. L’opérateur doit intervenir.',
    },
    step: 'Son lot est en route.',
  },
  altered: {
    title: 'Modifiée après son ancrage',
    notified:
      'L’opérateur a été averti. Un fichier de preuve enregistré plus tôt peut encore être vérifié ci-dessous.',
    reasons: {
      leaf: 'Les valeurs enregistrées ne sont pas celles qui ont été ancrées.',
      blob: 'Les empreintes de son lot ont été modifiées.',
      header: 'La fiche de son lot a été modifiée.',
      no_batch: 'Aucun lot ne contient son numéro.',
      not_in_log: 'Son numéro n’a jamais été attribué : la ligne a été inventée.',
    },
    other: 'Ce qui est enregistré diffère de ce qui a été ancré.',
  },
  otherVersion: {
    title: 'Ce lien est celui d’une autre version de la mesure',
    words: 'Le lien nomme une empreinte que cette mesure n’a pas. La sienne est :',
  },

  badge: {
    waiting: 'en attente',
    anyMoment: 'd’un instant à l’autre',
    inBatch: 'dans un lot',
    checked: (batch) => `lot ${batch}`,
    checkingOne: 'vérification…',
    altered: 'modifiée',
    failed: 'ne concorde pas',
    proofOf: (time) => `preuve de la mesure de ${time}`,
    legend:
      'Une coche signifie que votre navigateur a vérifié l’empreinte de la mesure jusqu’à son bloc. « Dans un lot » est la parole du serveur, pas encore vérifiée.',
    check: 'Vérifier ces mesures',
    checkingRows: (left) => `Vérification, encore ${count(left, readings)}…`,
  },

  table: {
    title: 'Mesures',
    caption: (id) => `Mesures de ${id}, la plus récente d’abord`,
    time: 'Heure',
    aqi: 'IQA',
    proof: 'Preuve',
    good: 'bonne',
    quality: 'Qualité',
    notes: (n) => count(n, { one: 'remarque', other: 'remarques' }),
    download: 'Télécharger les 1 000 plus récentes (CSV)',
    none: 'Pas encore de mesure',
    noneWords: 'La première que le capteur enverra apparaîtra ici.',
    more: 'En charger plus',
    late: 'Les données en direct sont indisponibles. Nouvelles tentatives en cours.',
  },
}
