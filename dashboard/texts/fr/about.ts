import type { AboutTexts } from '../en/about.ts'

export const about: AboutTexts = {
  about: {
    title: 'À propos',
    paragraphs: {
      who: 'Ce site montre l’air d’une ville tel que ses propres capteurs le mesurent : en direct, dans la durée, et de façon que chacun puisse vérifier chaque mesure.',
      how: 'Les capteurs envoient une mesure toutes les quelques secondes ou minutes. Chacune est vérifiée, reçoit un indice et une marque de qualité, est enregistrée, et s’affiche en une ou deux secondes. Toutes les quelques minutes, les nouvelles mesures sont scellées ensemble : une seule empreinte est inscrite sur une blockchain. Si une mesure était modifiée ensuite, son empreinte ne correspondrait plus, et sa page de preuve le dirait.',
      code: 'Le logiciel s’appelle airproof. Son code est ouvert : ce que dit cette page peut y être vérifié.',
    },
    proof: '{proof:Vérifier une preuve} · {map:Voir l’air en ce moment}',
    operator: 'Ce réseau est géré par {contact}.',
  },
  method: {
    title: 'Méthode de mesure',
    sections: {
      now: {
        title: 'Le chiffre du moment',
        body: 'Le chiffre affiché en premier est le NowCast de l’EPA américaine : une moyenne des 12 dernières heures où les plus récentes comptent davantage, surtout quand l’air change. C’est l’indice qui répond à la question « comment est l’air en ce moment ? ». Tant qu’un capteur n’a pas assez d’heures, la moyenne des 10 dernières minutes est affichée et nommée ainsi. Le chiffre d’une seule mesure est appelé indice de cette mesure.',
      },
      index: {
        title: 'L’indice',
        body: 'L’indice est celui de l’EPA américaine de 2024, calculé à partir des PM2.5, des PM10 ou d’un autre polluant mesuré par le capteur ; le plus élevé donne l’indice. Il compte six catégories. L’indice européen peut être choisi là où une page le propose. La valeur guide de l’OMS est de 15 µg/m³ de PM2.5 en moyenne sur 24 heures ; « × OMS » indique combien de fois elle est atteinte. La moyenne sur 24 heures dont il s’agit figure à côté ; tant que moins de 18 de ces heures ont des mesures, le nombre d’heures est indiqué.',
      },
      correction: {
        title: 'Valeurs brutes et corrigées',
        body: 'Les capteurs à bas coût comptent les particules par la lumière, et l’air humide les fait paraître plus grosses. Si un capteur mesure aussi l’humidité, une valeur corrigée selon la formule de l’EPA de 2021 figure à côté de la valeur brute. L’indice est calculé à partir de la valeur brute, sauf mention contraire.',
      },
      quality: {
        title: 'Qualité',
        body: 'Une valeur impossible, comme une humidité de 300 %, est écartée, et un message sans aucune valeur possible est refusé ; l’opérateur en garde l’original un certain temps. Aucune autre mesure n’est écartée parce qu’elle surprend : des règles signalent ce qui est douteux, comme un saut, une valeur figée ou un désaccord avec tous les voisins. Les moyennes laissent de côté ce qui est marqué comme mauvais et indiquent quelle part du temps elles couvrent.',
      },
      proof: {
        title: 'Ce que montre une preuve',
        body: 'Une preuve montre qu’une mesure avec exactement ces valeurs était parmi celles qui ont été scellées, et quand le sceau a été inscrit. Elle ne montre pas que le capteur mesurait bien. Sur une chaîne de test locale, elle ne dit rien du temps, et chaque page l’indique.',
      },
    },
  },
  data: {
    title: 'Licence des données',
    licensed: 'Les mesures de ce réseau sont sous licence {licence}. Mention : {credit}.',
    unlicensed:
      'L’opérateur de ce réseau n’a pas indiqué de licence pour ses mesures. Demandez avant de les publier ; les consulter, y renvoyer par un lien et les vérifier est toujours permis.',
    ways: 'Vous pouvez les obtenir en CSV depuis chaque graphique, par l’API avec une clé gratuite, ou sous forme de fichiers de l’archive, si l’opérateur en a ouvert une.',
    sources:
      'La carte nomme les sources de son fond. La police est Inter, sous {font:licence SIL Open Font}.',
  },
  privacy: {
    title: 'Vie privée',
    paragraphs: {
      nothing:
        'Tout peut être consulté sans compte. Ce site ne porte aucune publicité et compte seulement combien de fois chaque sorte de page est demandée, sans savoir par qui.',
      stored:
        'Sans compte, votre navigateur peut garder la langue, les couleurs et le fuseau horaire choisis, le fait qu’il a la police de ces pages, ce que vous avez vu en dernier, pour le montrer sans connexion, et un cookie qui protège les formulaires.',
      account:
        'Un compte contient votre adresse e-mail, votre nom, votre organisation si vous l’avez indiquée, la langue de vos e-mails, une empreinte de votre mot de passe, vos clés d’API sous forme d’empreintes, vos webhooks et leurs envois des 30 derniers jours, le nombre de requêtes de chaque clé par jour (40 jours), les dernières requêtes de vos programmes (7 jours) et des événements de sécurité comme les connexions, avec l’adresse et le navigateur d’origine (90 jours). Un cookie reconnaît pendant 180 jours un navigateur où vous vous êtes connecté. Ces données ne servent qu’à faire fonctionner le compte.',
      leave:
        'Vous pouvez tout télécharger ou supprimer le compte à tout moment. La suppression est immédiate et complète.',
    },
    ownMap: 'Rien n’est chargé depuis d’autres sites.',
    tiles:
      'Le fond de la carte est chargé depuis {host}, qui voit ainsi votre adresse. Rien d’autre n’est chargé depuis d’autres sites.',
    account: '{account:Votre compte}',
    ask: 'Questions sur vos données : {contact}.',
  },
}
