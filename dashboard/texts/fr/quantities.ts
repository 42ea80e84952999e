import { mapQuantities, type QuantityName } from '../../../core/air/quantities.ts'
import type { QuantitiesTexts } from '../en/quantities.ts'

type Names = QuantitiesTexts['names'][QuantityName]

/** A quantity that is not here yet has its English name. */
const names: Partial<Readonly<Record<QuantityName, Names>>> = {
  pm25: { short: 'PM2.5', long: 'PM2.5, particules fines' },
  pm10: { short: 'PM10', long: 'PM10, particules grossières' },
  co2: { short: 'CO₂', long: 'CO₂' },
  temperature: { short: 'Température', long: 'Température' },
  humidity: { short: 'Humidité', long: 'Humidité relative' },
  pm1: { short: 'PM1', long: 'PM1, particules très fines' },
  pm4: { short: 'PM4', long: 'PM4, particules jusqu’à 4 µm' },
  pressure: { short: 'Pression', long: 'Pression de l’air' },
  no2: { short: 'NO₂', long: 'NO₂, dioxyde d’azote' },
  o3: { short: 'O₃', long: 'O₃, ozone' },
  co: { short: 'CO', long: 'CO, monoxyde de carbone' },
  so2: { short: 'SO₂', long: 'SO₂, dioxyde de soufre' },
  voc_index: { short: 'Indice COV', long: 'Indice COV, 100 est habituel' },
  nox_index: { short: 'Indice NOx', long: 'Indice NOx, 1 est habituel' },
  tvoc: { short: 'COVT', long: 'COVT, total des composés organiques volatils' },
  noise: { short: 'Bruit', long: 'Bruit, niveau moyen' },
}

export const quantities: QuantitiesTexts = {
  aqi: 'IQA',
  names: mapQuantities(({ name, short, long }) => names[name] ?? { short, long }),
  units: { humidity: '%\u00a0HR' },
  dropped: (name) => `${name} : valeur impossible, écartée`,
  unusual: (name) => `${name} : valeur inhabituelle`,
  flags: {
    pm_high: 'Particules au-dessus de 500 µg/m³',
    pm_saturated: 'Particules à la limite du capteur',
    pm25_over_pm10: 'PM2.5 supérieures aux PM10 : l’une des valeurs est fausse',
    humidity_stuck: 'L’humidité ne varie pas',
    pm_flat: 'Les particules n’ont pas varié depuis deux heures',
    pm_stuck: 'Les particules n’ont pas varié depuis six heures',
    pm_zero: 'Aucune particule depuis une heure',
    pm_spike: 'Bien au-dessus de ce que le capteur mesurait juste avant',
    pm_unlike_neighbours: 'Depuis deux heures, différent des capteurs voisins',
    time_assigned: 'Heure d’arrivée : le capteur n’en a pas envoyé',
  },
}
