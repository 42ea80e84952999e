/** A webhook's `aqi_threshold` if it names none: `aqi.high` fires above it. */
export const defaultAqiThreshold = 150
/** `aqi.critical` fires above it, whatever a webhook names. */
export const criticalAqi = 300
