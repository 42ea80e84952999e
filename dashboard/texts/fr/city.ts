import type { CityTexts } from '../en/city.ts'

export const city: CityTexts = {
  title: (place) => `L’air à ${place} en ce moment`,
  about: (place) => `L’air à ${place} : en ce moment, dans le temps, et vérifiable.`,
  index: 'IQA (US)',
  basis: {
    nowcast: 'NowCast des 12 dernières heures',
    ten_minutes: 'Moyenne de 10 minutes : pas encore assez d’heures pour NowCast',
  },
  measured: 'D’après les valeurs mesurées, sans correction',
  mainPollutant: (name) => `Polluant principal : ${name}`,
  advice: {
    good: 'Profitez du plein air : personne n’a besoin de se ménager.',
    moderate:
      'Sans gêne pour la plupart. Si vous êtes très sensible aux particules, faites dehors des efforts plus courts et plus légers, et surveillez toux et essoufflement.',
    unhealthy_sensitive:
      'Enfants, personnes âgées ou atteintes d’une maladie du cœur ou des poumons : dehors, peu d’efforts et de courte durée. Les autres peuvent continuer comme d’habitude.',
    unhealthy:
      'Pour tous : réduisez les efforts longs ou intenses dehors. Enfants, personnes âgées ou atteintes d’une maladie du cœur ou des poumons : à l’intérieur, ou un autre jour.',
    very_unhealthy:
      'Pour tous : remettez les efforts intenses dehors à un autre jour. Enfants, personnes âgées ou atteintes d’une maladie du cœur ou des poumons : restez à l’intérieur, au calme.',
    hazardous:
      'Pour tous : restez à l’intérieur, fenêtres fermées, sans effort. Enfants, personnes âgées ou atteintes d’une maladie du cœur ou des poumons : reposez-vous dans la pièce où l’air est le plus propre.',
  },
  timesWho: (times) => `${times} × la ligne directrice de l’OMS`,
  withinWho: 'Sous la ligne directrice de l’OMS',
  dayMean: (pollutant, amount) => `${pollutant}, moyenne sur 24 heures : ${amount} µg/m³`,
  hoursMean: (pollutant, hours, amount) =>
    `${pollutant}, moyenne ${hours < 2 ? 'd’une heure' : `de ${hours} heures`} sur les 24 dernières : ${amount} µg/m³`,
  guideline: (amount) => `ligne directrice pour 24 heures : ${amount} µg/m³`,
  localTime: (time, zone) => `${time}, ${zone}`,
  sensorsOnline: (online, total) => `${online} capteurs en ligne sur ${total}`,
  none: 'Pas d’indice en ce moment',
  noneWhy: 'Aucune mesure des 10 dernières minutes, et trop peu d’heures pour NowCast.',
  silent: 'Aucune donnée n’arrive',
  silence: {
    here: (time) =>
      `Rien n’est arrivé depuis ${time} : le réseau ou nos serveurs sont en panne. Personne ne mesure l’air ici en ce moment, il n’y a donc pas de conseil.`,
    neverHere: 'Aucun capteur n’a encore envoyé de mesure ici.',
    all: (place, time) =>
      `Aucun capteur de ${place} n’a rien envoyé depuis ${time} : c’est le réseau ou nos serveurs, pas ce capteur.`,
    most: (silent, of, place) =>
      `${silent} capteurs de ${place} sur ${of} se taisent : sans doute une panne de réseau ou de courant, pas ce seul capteur.`,
    restarted: (time) =>
      `Notre service était arrêté jusqu’à ${time}. Le capteur n’a encore rien envoyé depuis : il est peut-être en train de se reconnecter.`,
    retired:
      'Ce capteur a été retiré du réseau. Ses mesures restent, et peuvent toujours être vérifiées.',
    ended: 'L’opérateur a mis fin à l’accès de ce capteur au réseau.',
    notAccepted: (time) =>
      `Quelque chose arrive sous son nom${time === undefined ? '' : ` (dernière fois : ${time})`}, mais n’est pas accepté : la clé, l’horloge ou le format de l’appareil sont peut-être faux. L’opérateur peut voir la raison exacte.`,
    connected:
      'Il est connecté, mais n’envoie pas de mesures : la partie qui mesure s’est arrêtée.',
    never: 'Il est enregistré, mais n’a pas encore envoyé de mesure.',
    silent: 'Rien n’arrive de lui. Vérifiez son alimentation et sa connexion à internet.',
  },
  usual: {
    than: (day, hour, aqi, weeks) =>
      `un ${day} à ${hour}, l’indice moyen ici est de ${aqi} (${weeks} semaines de données)`,
    worse: (than) => `Pire que d’habitude : ${than}`,
    better: (than) => `Mieux que d’habitude : ${than}`,
    same: (than) => `Comme d’habitude : ${than}`,
    from: (date) => `Valeur habituelle à cette heure : connue à partir du ${date}`,
  },
  lastReading: (time) => `Dernière mesure : ${time}`,
  lastMeasured: (time, aqi, category) => `Dernière mesure : IQA (US) ${aqi}, ${category}, ${time}.`,
  neverRead: 'N’a encore rien envoyé',
  offline: 'Hors ligne',
  online: 'En ligne',
  retired: 'Retiré',
  away: 'Les chiffres ne peuvent pas être chargés pour l’instant. Ils apparaîtront dès que le serveur répondra.',
  list: {
    label: 'Capteurs',
    more: (next: string, all: string) => `En afficher ${next} de plus sur ${all}`,
    offline: 'hors ligne',
    neverSent: 'n’a encore rien envoyé',
  },
  seeArea: (name) => `${name} en détail`,
  areas: 'Zones',
  areaColumn: 'Zone',
  areaIndex: 'IQA (US) des dernières mesures',
  sensorsColumn: 'Capteurs en ligne',
  sensorsOf: (name) => `Capteurs : ${name}`,
  onlyFirst: (shown, total) =>
    `Les ${shown} premiers des ${total} capteurs, selon leurs identifiants. La carte les montre tous.`,
  noScript:
    'La carte, les graphiques et les chiffres en direct ont besoin de JavaScript. Cette page montre les chiffres du moment où elle a été chargée.',
  unknownArea: 'Cette zone n’existe pas',
  unknownAreaWhy: 'Aucune zone de ce réseau ne porte ce nom. Il s’écrit peut-être autrement.',
  toCity: 'Toute la ville',
  onMap: 'Voir sur la carte',
  share: {
    link: 'Lien',
    button: 'Partager',
    title: 'Partager cette page',
    copyLink: 'Copier le lien',
    embed: 'L’afficher sur votre propre page',
    embedHint: 'En direct, sans cookies, en moins de 15 ko.',
    badge: 'Badge pour un README ou une page',
    close: 'Fermer',
  },
  kept: (time) => `Pas de connexion au serveur. Dernier état connu : ${time}.`,
  proofCard: 'Une mesure avec sa preuve : ouvrez la page pour la vérifier vous-même.',
  proofTitle: (place) => `Preuve d’une mesure : ${place}`,
  proofAbout: (pm25, pm10, time) =>
    `PM2.5 ${pm25}, PM10 ${pm10}, ${time}. Vérifiez-la vous-même, dans votre navigateur.`,
  search: 'Chercher un lieu ou un identifiant',
  area: 'Zone',
  allOf: (name) => `Tout ${name}`,
  allAreas: 'Toutes les zones',
  order: 'Ordre',
  orders: {
    worst: 'Le plus mauvais air d’abord',
    best: 'Le meilleur air d’abord',
    id: 'Par identifiant',
    silent: 'Hors ligne depuis le plus longtemps d’abord',
  },
  sensors: 'Capteurs',
  offlineCount: (count) => `, dont ${count} hors ligne`,
  neverSentCount: (count) => `, ${count} encore sans données`,
  listing: 'Chargement des capteurs…',
  noneFits: 'Aucun capteur ne correspond',
  noneFitsHint:
    'Cherchez une autre partie d’un lieu ou d’un identifiant, ou choisissez toutes les zones.',
  live: 'En direct',
  connecting: 'Connexion…',
  noSensors: 'Pas encore de capteurs',
  noSensorsHint: 'Enregistrez le premier ; il apparaît ici avec sa première mesure :',
  noSensorsCommand: 'Commande qui enregistre un capteur',
  orSimulate: 'Ou essayez une ville simulée :',
  askApi: 'Interroger l’API',
}
