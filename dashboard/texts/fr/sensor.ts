import type { SensorTexts } from '../en/sensor.ts'

export const sensor: SensorTexts = {
  city: 'Ville',
  where: 'Emplacement',
  unknown: 'Ce capteur n’existe pas',
  unknownWhy: (id) =>
    `Aucun capteur de ce réseau ne porte l’identifiant ${id}. Vérifiez son orthographe, ou cherchez le lieu dans la liste de la ville.`,
  severalWhy: (id) =>
    `Plusieurs capteurs portent l’identifiant court ${id}. Utilisez un identifiant entier :`,
  lastReading: 'Dernière mesure',
  ofThisReading: 'Indice de cette mesure',
  ofThisReadingHint:
    'L’EPA des États-Unis définit l’indice pour des moyennes : celui d’une seule mesure est une indication approximative.',
  noIndex: 'Aucune particule n’a été mesurée, donc pas d’indice.',
  beyond: 'L’air est pire que ce que l’indice peut dire.',
  asMeasured: 'valeur mesurée',
  corrected: 'corrigé (EPA, 2021)',
  notMeasured: 'pas mesuré',
  averages: 'Moyennes',
  nowcast: 'NowCast, 12 heures',
  dayIndex: 'IQA sur 24 heures',
  uptime: 'Disponibilité, 24 heures',
  uptimeSince: (length) => `Disponibilité, ${length} depuis sa mise en service`,
  tooFew: 'Pas encore assez de données',
  quality: 'Qualité',
  qualityLabel: 'Remarques sur ces valeurs',
  seeProof: 'Voir la preuve',
  whySilent: 'Raison exacte, et que faire',
  qr: 'Code QR de cette page',
  qrHint: 'Cette page, à imprimer et à coller sur le capteur',
}
