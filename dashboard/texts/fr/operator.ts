import type { OperatorTexts } from '../en/operator.ts'
import { count, number } from './write.ts'

const accounts = { one: 'compte', other: 'comptes' }

export const operator: OperatorTexts = {
  alerts: {
    title: 'Alertes',
    none: 'Rien ne demande votre attention.',
    idle: (idle, of) =>
      `${number(idle)} partitions sur ${number(of)} n’ont pas de processus : des mesures attendent. Le pipeline fonctionne-t-il ?`,
    unjudged: (waiting) =>
      `${number(waiting)} messages attendent d’être vérifiés. Si ce nombre augmente, le pipeline est trop lent ou bloqué.`,
    unstored: (waiting) =>
      `${number(waiting)} mesures attendent la base de données. Est-elle pleine, lente ou absente ?`,
    notifier: (silent, of) =>
      `${number(silent)} fragments de webhooks sur ${number(of)} ne répondent pas : rien n’en est livré. Le notifier fonctionne-t-il ?`,
    deliveries: (seconds, waiting) =>
      `${number(waiting)} livraisons attendent, la plus ancienne depuis ${number(seconds)} s.`,
    outage: (offline, of) =>
      `${number(offline)} capteurs sur ${number(of)} sont hors ligne : plutôt une panne de réseau ou de courant que des capteurs en panne.`,
    mails: (waiting) =>
      `${number(waiting)} e-mails attendent d’être envoyés. Le serveur de e-mail répond-il ?`,
    anchor: (words) => `Ancrage : ${words}`,
  },
  firstRun: {
    title: 'Pas encore de capteur',
    intro: 'Enregistrez le premier ici, ou importez une liste.',
    add: 'Ajouter un capteur',
    importList: 'Importer une liste',
    command: 'En ligne de commande :',
    simulate: 'Ou essayez une ville simulée :',
    commandLabel: 'Commande',
  },
  sensors: {
    manage: 'Gérer',
    manageOf: (id) => `Gérer ${id}`,
    importList: 'Importer une liste',
    none: 'Aucun capteur correspondant.',
    addKey: 'Créer une clé pour lui maintenant',
    added: 'Le capteur est enregistré. Mettez cette clé dans l’appareil maintenant.',
    add: 'Ajouter un capteur',
    addIt: 'L’ajouter',
    example: (text) => `comme ${text}`,
    search: 'Rechercher',
    searchHint: 'identifiant, quartier, adresse',
    state: 'État',
    states: {
      any: 'tous les états',
      online: 'en ligne',
      offline: 'hors ligne',
      held: 'en suspens (panne générale)',
      unheard: 'pas encore de données',
    },
    title: 'Capteurs',
    caption: 'Capteurs par identifiant',
    total: (total) =>
      `${count(total, { one: 'capteur', other: 'capteurs' })}. Retard de quelques secondes au plus.`,
    index: 'Indice',
    lastReading: 'Dernière mesure',
    noReading: 'pas encore de données',
    every: 'Toutes les',
    previous: 'Précédents',
    next: 'Suivants',
  },
  silence: {
    title: 'Pourquoi il se tait',
    ask: 'Pourquoi ?',
    askOf: (id) => `Pourquoi ${id} se tait-il ?`,
    looking: 'Recherche de la raison…',
    reports: 'Il envoie comme il le doit.',
    seeRefused: 'Voir ce qui a été refusé',
    command: 'Commande :',
    noGate:
      'Aucun portail ne répond : rien n’est connu de ses connexions. `airproof gate` est-il en marche ?',
    reasons: {
      retired: (time) => `Il a été retiré du réseau le ${time}.`,
      revoked: 'Sa clé a été révoquée.',
      no_key: 'Il n’a pas de clé et ne peut donc pas se connecter.',
      outage: (silent, of, place) =>
        `${silent} capteurs de ${place} sur ${of} se taisent : ce n’est pas ce capteur.`,
      restarted: (time) =>
        `Notre service était arrêté jusqu’à ${time}, et il n’a encore rien envoyé depuis.`,
      paused: (time) => `Il a trop envoyé et reste exclu jusqu’au ${time}.`,
      replaced: (made, time) =>
        `Une nouvelle clé lui a été donnée le ${made}, et il se présente encore avec l’ancienne (dernière fois : ${time}).`,
      sign_in: (time, why) => `Sa connexion a été refusée le ${time}. ${why}`,
      rejected: (time, why) => `Ce qu’il a envoyé le ${time} a été refusé. ${why}`,
      denied: (time) =>
        `Il est admis, mais publie là où il n’en a pas le droit (dernière fois : ${time}).`,
      connected: 'Il est connecté, mais n’envoie rien.',
      never: 'Il n’a jamais envoyé de mesure, et aucune connexion n’est connue.',
      silent: (time) => `Rien n’est arrivé de lui depuis le ${time}.`,
    },
    fixes: {
      retired: 'Ajouter de nouveau son identifiant le fait revenir.',
      revoked: 'Créez une nouvelle clé ci-dessous et mettez-la dans l’appareil.',
      no_key:
        'Créez une clé ci-dessous et mettez-la dans l’appareil. S’il envoie par une application, il n’en a pas besoin.',
      outage: 'Vérifiez NATS, la chaîne de traitement et le réseau des capteurs.',
      restarted: 'Attendez quelques minutes : les appareils se reconnectent d’eux-mêmes.',
      paused:
        'Réglez un intervalle plus long dans l’appareil ; il est de nouveau admis après la pause.',
      replaced: 'Mettez la nouvelle clé dans l’appareil, ou créez-en une autre ci-dessous.',
      sign_in:
        'Comparez l’identifiant et la clé de l’appareil avec ceux que vous avez donnés, ou créez une nouvelle clé ci-dessous. N’importe qui peut essayer sous son identifiant.',
      denied:
        'Il doit publier sur son propre sujet et sur rien d’autre ; voir le guide des capteurs.',
      connected: 'Redémarrez l’appareil, et vérifiez la partie qui mesure et son intervalle.',
      never: 'Mettez dans l’appareil son identifiant, sa clé et l’adresse du serveur.',
      silent: 'Vérifiez son alimentation et sa connexion à internet.',
    },
    signIn: {
      wrong: 'La clé n’est pas la sienne.',
      unknown: 'Il n’a pas de clé.',
      expired: 'La clé a été remplacée, et le temps de recouvrement est passé.',
      revoked: 'La clé a été révoquée.',
      mistyped: 'Ce qu’il envoie n’est pas une clé de capteur : elle est coupée ou mal saisie.',
      unregistered: 'Il a une clé, mais n’est pas enregistré.',
      client_id: 'L’identifiant de client MQTT n’est pas celui du capteur.',
      paused: 'Il avait trop envoyé.',
    },
    facts: {
      key: 'Clé',
      connection: 'Connecté',
      contact: 'Dernier contact accepté',
      left: 'Fin de la dernière connexion',
      refused: 'Connexions refusées',
    },
    keys: { none: 'aucune', good: 'valable', revoked: 'révoquée' },
    notConnected: 'non',
    neverThere: 'jamais',
  },
  manage: {
    settings: 'Réglages',
    save: 'Enregistrer',
    saved: 'Enregistré',
    move: 'Déplacer',
    moveHint:
      'Le nouveau lieu vaut à partir de maintenant. Les mesures antérieures restent à l’ancien.',
    moveIt: 'Déplacer',
    sites: (sites) => count(sites, { one: 'lieu jusqu’ici', other: 'lieux jusqu’ici' }),
    key: 'Nouvelle clé',
    keyHint:
      'L’appareil s’identifie avec elle. La clé actuelle cesse aussitôt de fonctionner : mettez la nouvelle dans l’appareil sans attendre. Pour une période avec les deux, utilisez `airproof sensors key --overlap`.',
    makeKey: 'Créer une nouvelle clé',
    retire: 'Retirer du réseau',
    retireHint: (id) =>
      `Ce que ${id} envoie désormais est refusé comme unknown_sensor, et sa clé cesse de fonctionner. Ses mesures et ses preuves restent. Ajouter à nouveau son identifiant le fait revenir.`,
    retireSure: 'Oui, le retirer du réseau',
    retireIt: 'Retirer',
    fields: {
      cadence_seconds: 'Secondes entre les mesures',
      make: 'Fabricant',
      model: 'Modèle',
      height_m: 'Hauteur au-dessus du sol, m',
      owner: 'Propriétaire, tel qu’il veut être nommé',
      licence: 'Licence de ses données',
      area: 'Quartier',
      address: 'Adresse',
      lat: 'Latitude',
      lon: 'Longitude',
      id: 'Identifiant',
    },
  },
  importing: {
    intro:
      'Un fichier CSV d’au plus 5 000 capteurs et 1 Mo. Vous voyez d’abord ce qu’il changerait. Colonnes : id, area, lat, lon, address ; facultatives : cadence, from, device, device_options, receipts, public_key, signature, make, model, indoor, height_m, licence, owner.',
    example: 'Exemple de liste',
    file: 'Fichier CSV',
    tooLong:
      'Le fichier dépasse 1 Mo : découpez-le en plusieurs, ou utilisez `airproof sensors import`.',
    checking: 'Vérification…',
    preview: 'Aperçu',
    counts: (counts) =>
      `${number(counts.new)} nouveaux, ${number(counts.returns)} de retour, ${number(counts.changed)} modifiés, ${number(counts.unchanged)} inchangés`,
    faults: (faults) =>
      `${count(faults, { one: 'ligne est incorrecte', other: 'lignes sont incorrectes' })}. Corrigez le fichier et choisissez-le à nouveau ; rien n’est importé d’ici là.`,
    line: (line) => `ligne ${line} :`,
    rowFaults: {
      values: (given) =>
        `plus de valeurs que de colonnes, à partir de « ${given} ». Mettez entre guillemets une valeur qui contient une virgule.`,
      no_id: () => 'pas d’identifiant (id).',
      no_area: () => 'pas de quartier (area).',
      id: (given) => `« ${given} » n’est pas un identifiant de ce réseau, comme NGR-LOS-IKJ-001.`,
      area: (given) => `« ${given} » ne peut pas être le nom d’un quartier.`,
      lat: (given) => `« ${given} » n’est pas une latitude, un nombre de -90 à 90.`,
      lon: (given) => `« ${given} » n’est pas une longitude, un nombre de -180 à 180.`,
      cadence: (given) => `« ${given} » n’est pas une cadence, comme 5m ou 300.`,
      from: (given) =>
        `« ${given} » n’est pas une heure avec son décalage, comme 2026-01-31T00:00:00Z.`,
      device: (given) =>
        `« ${given} » n’est pas un appareil, TYPE:SÉRIE avec des options NOM=VALEUR. docs/sensors.md donne les types.`,
      receipts: (given) => `receipts doit être yes ou no, et non « ${given} ».`,
      public_key: (given) => `« ${given} » n’est pas une clé publique.`,
      signature: (given) => `signature doit être required ou optional, et non « ${given} ».`,
      indoor: (given) => `indoor doit être yes ou no, et non « ${given} ».`,
      height_m: (given) => `height_m doit être un nombre de mètres, et non « ${given} ».`,
      text: (given) =>
        `${given} : son quartier ou son adresse a un saut de ligne, ou un caractère qui change le sens du texte. Retirez-le.`,
      entry: () =>
        'une valeur est hors de ses bornes ou trop longue, ou une signature est exigée sans clé publique.',
    },
    id: 'Capteur',
    outcome: 'Ce qui se passe',
    outcomes: { new: 'nouveau', returns: 'de retour', changed: 'modifié', unchanged: 'inchangé' },
    what: 'Changements',
    whats: {
      sites: 'lieu',
      cadence: 'cadence',
      device: 'appareil',
      receipts: 'reçus',
      'public key': 'clé publique',
      signature: 'signature',
      make: 'fabricant',
      model: 'modèle',
      indoor: 'intérieur',
      height_m: 'hauteur',
      licence: 'licence',
      owner: 'propriétaire',
    },
    more: (more) => `${number(more)} de plus.`,
    withKeys: 'Créer une clé pour chaque nouveau capteur',
    doIt: (sensors) => `Importer ${count(sensors, { one: 'capteur', other: 'capteurs' })}`,
    done: (counts) =>
      `Importé : ${number(counts.new + counts.returns)} ajoutés, ${number(counts.changed)} modifiés.`,
    keysOnce: (keys) =>
      `${count(keys, { one: 'clé a été créée', other: 'clés ont été créées' })}. Elles ne sont montrées que cette fois : téléchargez le fichier maintenant.`,
    download: 'Télécharger les clés',
  },
  refused: {
    refused: 'Refusés',
    partial: 'Acceptés en partie',
    show: 'Afficher',
    partialWords:
      'Ces mesures ont été acceptées. Une valeur impossible a été écartée ; l’original est conservé ici.',
    tell: 'Que dire au propriétaire',
    refresh: 'Actualiser',
    again: (messages) => `Renvoyer ces ${number(messages)} messages`,
    sure: (messages) =>
      `${count(messages, { one: 'message est vérifié', other: 'messages sont vérifiés' })} à nouveau comme à l’arrivée. Faites-le une fois la cause corrigée : ce qui est encore faux est refusé à nouveau.`,
    yes: 'Renvoyer',
    unknown: 'Pas encore de conseil pour ce motif.',
    any: 'tous les motifs',
    reason: 'Motif',
    sensor: 'Capteur',
    sensorHint: 'identifiant complet',
    none: 'Rien de ce genre n’est conservé.',
    title: 'Messages refusés',
    newest: (shown) => `Les ${number(shown)} plus récents.`,
    caption: 'Messages refusés, du plus récent au plus ancien',
    arrived: 'Arrivé',
    why: 'Pourquoi',
    bytes: 'Octets',
    content: 'Contenu',
    showOf: (id) => `Afficher ${id}`,
    id: 'Identifiant',
    length: (bytes) => count(bytes, { one: 'octet', other: 'octets' }),
    cut: (kept) => `seuls les ${number(kept)} premiers sont conservés`,
    base64: 'pas du texte : affiché en base 64',
    empty: '(vide)',
    againOne: 'Le renvoyer',
    outcome: {
      replayed: (n) => `${count(n, { one: 'renvoyé', other: 'renvoyés' })}`,
      truncated: (n) => `${number(n)} non : seul leur début est conservé`,
      unsendable: (n) => `${number(n)} non : leur capteur n’a pas de nom valide`,
      gone: (n) => `${count(n, { one: 'n’est plus conservé', other: 'ne sont plus conservés' })}`,
    },
    reasons: {
      not_json: 'Ce n’est pas du JSON.',
      schema: 'C’est du JSON, mais pas une mesure.',
      too_large: 'Son corps dépasse 128 Kio.',
      too_many: 'Il contient plus de 500 mesures.',
      empty: 'C’est une liste vide.',
      unknown_sensor: 'Le capteur n’est pas enregistré : ajoutez-le, puis renvoyez ces messages.',
      sensor_mismatch: 'La mesure nomme un autre capteur que le sujet sur lequel elle est arrivée.',
      wrong_partition: 'Il est sur le sujet d’une autre partition.',
      no_offset: 'Son heure n’a pas de fuseau : elle est ambiguë.',
      too_old: 'Son heure précède la plus ancienne que l’on croit : une horloge déréglée.',
      future: 'Son heure est de plus de cinq minutes après son arrivée : une horloge qui avance.',
      out_of_range: 'Aucune valeur n’est plausible.',
      conflict: 'Il existe une autre mesure de ce capteur à la même heure, avec d’autres valeurs.',
      before_site:
        'Son heure précède de plus d’un jour l’installation du capteur à son premier lieu.',
      too_many_late: 'Le capteur a déjà envoyé un million de mesures tardives ce jour-là.',
      too_many_fresh:
        'Le capteur a envoyé ce jour-là autant de mesures qu’il le peut : une par seconde.',
      not_judged:
        'Sa vérification a échoué : une faute d’airproof. Signalez-la ; renvoyez ces messages après une mise à jour.',
      bad_signature: 'Il n’est pas signé par une clé que le capteur avait à cette heure.',
      partial: 'Acceptée, mais une valeur hors limites a été écartée ; l’original est conservé.',
    },
    advice: {
      not_json:
        'L’appareil envoie autre chose que du JSON. Vérifiez le format dans les réglages du micrologiciel, ou mettez-le à jour.',
      schema:
        'Il manque un champ au message, ou l’un est d’un mauvais type. Comparez-le à l’exemple du guide : sensor_id, timestamp et des valeurs numériques.',
      too_large: 'Le message dépasse 128 Kio. Envoyez moins de mesures à la fois.',
      too_many:
        'Un message contient au plus 500 mesures. Envoyez ce qui est stocké en plusieurs messages.',
      empty: 'L’appareil envoie une liste vide. N’envoyez rien quand il n’y a rien à envoyer.',
      unknown_sensor:
        'Nous ne connaissons pas cet identifiant. Vérifiez-le dans l’appareil ; s’il est juste, demandez-nous de l’enregistrer.',
      sensor_mismatch:
        'L’appareil s’identifie comme un capteur et en nomme un autre. Utilisez le même identifiant partout.',
      wrong_partition:
        'Le message est arrivé sur un sujet interne. Publiez sur air.raw.<id>, et rien d’autre.',
      no_offset:
        'L’heure n’a pas de fuseau. Envoyez l’heure UTC avec un Z à la fin, comme 2026-01-31T08:00:00Z.',
      too_old:
        'L’horloge de l’appareil est fausse, souvent après une coupure de courant. Réglez-la par NTP avant de mesurer.',
      future:
        'L’horloge de l’appareil avance. Réglez-la par NTP ; vérifiez qu’il envoie l’heure UTC et non l’heure locale avec un Z.',
      out_of_range:
        'Toutes les valeurs sont hors de ce que l’air peut être. Le capteur est sans doute en panne, mouillé ou débranché.',
      conflict:
        'L’appareil a envoyé deux mesures différentes pour la même seconde. Cherchez un second appareil avec le même identifiant.',
      before_site:
        'La mesure précède l’installation du capteur à son premier lieu. Vérifiez l’horloge, ou dites-nous depuis quand il y est.',
      too_many_late:
        'L’appareil envoie beaucoup trop d’anciennes mesures par jour. N’envoyez ce qui est stocké qu’une fois.',
      too_many_fresh:
        'L’appareil envoie plus d’une mesure par seconde. Choisissez un intervalle plus long.',
      not_judged: 'C’est notre faute. Vous n’avez rien à faire ; vos mesures sont conservées.',
      bad_signature:
        'La signature ne correspond pas à la clé que nous avons. Si l’appareil a une nouvelle clé, envoyez-nous la clé publique.',
      partial:
        'Une des valeurs est impossible, seules les autres comptent. Vérifiez cette partie du capteur.',
    },
  },
  status: {
    measuring: 'Mesure des débits pendant une seconde…',
    neverRan: 'jamais lancé',
    mib: (count) => `${number(count / 1024 / 1024, 1, { fixed: true })} Mio`,
    perSecond: (count) => `${number(count)}/s`,
    incoming: 'Arrivées',
    incomingWords: (accepted) => `messages bruts ; ${number(accepted)} mesures/s acceptées`,
    online: 'Capteurs en ligne',
    onlineWords: (registered, offline, unheard) =>
      `sur ${number(registered)} ; ${number(offline)} hors ligne, ${number(unheard)} encore sans données`,
    unjudged: 'À vérifier',
    unjudgedWords: 'messages bruts qui attendent le pipeline',
    unstored: 'À enregistrer',
    unstoredWords: 'mesures qui attendent la base de données',
    statistics: 'Retard des statistiques',
    statisticsWords: 'entrées du journal',
    notAnchored: 'À ancrer',
    notAnchoredWords: 'mesures ; aucune n’est ancrée',
    notAnchoredSince: 'mesures ; le lot {batch} l’est, {when}',
    unmatched: 'Événements à comparer',
    unmatchedWords: 'aux webhooks',
    deliveries: 'Livraisons en attente',
    deliveriesWords: (seconds, paused, dead) =>
      `la plus ancienne depuis ${number(seconds)} s ; ${number(paused)} serveurs en pause après des échecs, ${number(dead)} livraisons abandonnées`,
    mails: 'Courriels en attente',
    mailsWords: 'à envoyer',
    refused: 'Refusés',
    refusedWords: 'conservés ; {why:pourquoi}',
    log: 'Le journal',
    logWords: (messages, accepted) =>
      `${number(messages)} messages ; ${number(accepted)} mesures acceptées depuis le début`,
    partitions: 'Partitions',
    caption: 'Le pipeline, partition par partition',
    partition: 'P',
    raw: 'Bruts',
    accepted: 'Acceptées',
    notStored: 'À enregistrer',
    lastCommit: 'Dernière écriture',
    worker: 'Processus',
    none: 'aucun',
  },
  anchors: {
    states: {
      closing: 'en cours de scellement',
      sealed: 'scellé',
      sent: 'envoyé',
      mined: 'dans un bloc',
      final: 'définitif',
    },
    contract: 'Contrat',
    noContract: 'pas encore : `airproof anchor deploy`',
    chain: 'Chaîne',
    checked: 'Dernière vérification',
    never: 'jamais',
    checkedNone: (block) => `{when}, au bloc ${number(block)} : aucun lot n’est encore définitif`,
    checkedTo: (block, batch) =>
      `{when}, au bloc ${number(block)} : définitif jusqu’au lot ${number(batch)}`,
    noneTitle: 'Pas encore de lot',
    none: 'Le premier est scellé quelques minutes après la première mesure, si un processus d’ancrage fonctionne.',
    title: 'Les lots les plus récents',
    batch: 'Lot',
    state: 'État',
    readings: 'Mesures',
    sealed: 'Scellé',
    log: 'Journal',
    block: 'Bloc',
    transaction: 'Transaction',
  },
  accounts: {
    search: 'Rechercher',
    searchHint: 'adresse, nom, identifiant',
    tier: 'Offre',
    anyTier: 'toutes les offres',
    title: 'Comptes',
    total: (total) => `${count(total, accounts)}.`,
    newest: (total, shown) =>
      `${count(total, accounts)} ; les ${number(shown)} plus récents sont affichés.`,
    caption: 'Comptes, du plus récent au plus ancien',
    email: 'Adresse e-mail',
    name: 'Nom',
    organization: 'Organisation',
    role: 'Rôle',
    created: 'Créé',
    change: 'Changer',
    makes: { free: 'Passer en gratuit', premium: 'Passer en premium' },
    makeTitles: {
      free: 'Passer ce compte en gratuit ?',
      premium: 'Passer ce compte en premium ?',
    },
    makeIts: { free: 'Le passer en gratuit', premium: 'Le passer en premium' },
    isNow: {
      free: '{name} ({email}) est gratuit pour l’instant.',
      premium: '{name} ({email}) est premium pour l’instant.',
    },
    consequences: {
      free: 'Ses webhooks sont suspendus, et il a les requêtes par jour d’un compte gratuit.',
      premium: 'Il obtient les webhooks et plus de requêtes par jour.',
    },
    soon: 'Effet en une seconde.',
  },
  tabs: {
    label: 'Opérateur',
    status: 'État',
    sensors: 'Capteurs',
    rejected: 'Refusés',
    anchors: 'Ancrages',
    accounts: 'Comptes',
  },
}
