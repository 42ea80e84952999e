/** A sensor that this network could have: what examples and hints of pages are about. */
import { computed } from '@preact/signals'
import { config } from '../me.ts'

export const exampleSensor = computed(() => {
  const { idPrefix = 'NGR-LOS', box = [3, 6.3, 3.9, 6.8] } = config.value
  const [west, south, east, north] = box
  return {
    id: `${idPrefix}-CEN-001`,
    area: 'Centre',
    lat: ((south + north) / 2).toFixed(4),
    lon: ((west + east) / 2).toFixed(4),
    address: '12 Station Road',
  }
})

/** As `airproof sensors add` takes it. */
export const addCommand = computed(() => {
  const { id, area, lat, lon, address } = exampleSensor.value
  return `npx airproof sensors add --id ${id} --area ${area} \\\n  --lat ${lat} --lon ${lon} --address "${address}"`
})
