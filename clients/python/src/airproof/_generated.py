"""Made by `npm run clients` from the OpenAPI document: do not edit it."""
from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, Required, TypeAlias, TypedDict, Unpack

from ._call import AsyncCaller, AsyncPages, Call, Caller, Pages

Time: TypeAlias = 'str | datetime'
"""ISO 8601, or a datetime; without an offset it is UTC."""

AqiCategory: TypeAlias = "Literal['good', 'moderate', 'unhealthy_sensitive', 'unhealthy', 'very_unhealthy', 'hazardous', 'fair', 'poor', 'very_poor', 'extremely_poor', 'low', 'high', 'very_high', 'satisfactory', 'severe']"


Pollutant: TypeAlias = "Literal['pm25', 'pm10']"


Presence: TypeAlias = "Literal['online', 'offline']"


class Location(TypedDict):
    lat: float
    lon: float
    address: str


class Sensor(TypedDict):
    """after `aqi`: only with include=latest"""
    id: str
    """NGR-LOS-{AREA}-{NUMBER}"""
    area: str
    location: Location
    status: Presence
    last_reading: str | None
    """ISO 8601, UTC, with milliseconds"""
    uptime_24h: float
    aqi: int | None
    """of its newest reading"""
    aqi_category: NotRequired[AqiCategory | None]
    dominant_pollutant: NotRequired[Pollutant | None]
    beyond_index: NotRequired[bool]
    quality: NotRequired[list[str]]
    """flags about the values; some may be added: dropped_pm25, dropped_pm10, dropped_co2, dropped_temperature, dropped_humidity, pm_high, pm_saturated, pm25_over_pm10, co2_unusual, temperature_unusual, humidity_stuck, time_assigned, dropped_pm1, dropped_pm4, dropped_pressure, dropped_no2, dropped_o3, dropped_co, dropped_so2, dropped_voc_index, dropped_nox_index, dropped_tvoc, dropped_noise, pm_flat, pm_stuck, pm_zero, pm_spike, pm_unlike_neighbours"""
    quality_level: NotRequired[Literal['good', 'suspect', 'fail'] | None]
    """of the worst of the flags"""
    pm25: NotRequired[float | None]
    """µg/m³"""
    pm10: NotRequired[float | None]
    """µg/m³"""
    co2: NotRequired[float | None]
    """ppm"""
    temperature: NotRequired[float | None]
    """°C"""
    humidity: NotRequired[float | None]
    """%RH"""
    pm1: NotRequired[float | None]
    """µg/m³"""
    pm4: NotRequired[float | None]
    """µg/m³"""
    pressure: NotRequired[float | None]
    """hPa"""
    no2: NotRequired[float | None]
    """µg/m³"""
    o3: NotRequired[float | None]
    """µg/m³"""
    co: NotRequired[float | None]
    """µg/m³"""
    so2: NotRequired[float | None]
    """µg/m³"""
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    """ppb"""
    noise: NotRequired[float | None]
    """dB(A)"""
    modified_at: NotRequired[str]
    """when its latest reading arrived, or its registry entry was written"""
    silence_seconds: NotRequired[int | None]
    """since its last reading arrived"""
    distance_m: NotRequired[int]
    """from `near`"""
    corrections: NotRequired[dict[str, object]]
    """by model and quantity, if `corrections` was given"""


class SensorsPage(TypedDict):
    status: Literal['success']
    count: int
    total: int
    """of all pages"""
    next_cursor: str | None
    """null: this is the last page"""
    sensors: list[Sensor]
    corrections: NotRequired[list[CorrectionUsed]]
    """the models that `corrections` names"""


class PickedSensor(TypedDict):
    """a sensor with the fields that `fields` names"""
    id: NotRequired[str]
    """NGR-LOS-{AREA}-{NUMBER}"""
    area: NotRequired[str]
    location: NotRequired[Location]
    status: NotRequired[Presence]
    last_reading: NotRequired[str | None]
    """ISO 8601, UTC, with milliseconds"""
    uptime_24h: NotRequired[float]
    aqi: NotRequired[int | None]
    """of its newest reading"""
    aqi_category: NotRequired[AqiCategory | None]
    dominant_pollutant: NotRequired[Pollutant | None]
    beyond_index: NotRequired[bool]
    quality: NotRequired[list[str]]
    """flags about the values; some may be added: dropped_pm25, dropped_pm10, dropped_co2, dropped_temperature, dropped_humidity, pm_high, pm_saturated, pm25_over_pm10, co2_unusual, temperature_unusual, humidity_stuck, time_assigned, dropped_pm1, dropped_pm4, dropped_pressure, dropped_no2, dropped_o3, dropped_co, dropped_so2, dropped_voc_index, dropped_nox_index, dropped_tvoc, dropped_noise, pm_flat, pm_stuck, pm_zero, pm_spike, pm_unlike_neighbours"""
    quality_level: NotRequired[Literal['good', 'suspect', 'fail'] | None]
    """of the worst of the flags"""
    pm25: NotRequired[float | None]
    """µg/m³"""
    pm10: NotRequired[float | None]
    """µg/m³"""
    co2: NotRequired[float | None]
    """ppm"""
    temperature: NotRequired[float | None]
    """°C"""
    humidity: NotRequired[float | None]
    """%RH"""
    pm1: NotRequired[float | None]
    """µg/m³"""
    pm4: NotRequired[float | None]
    """µg/m³"""
    pressure: NotRequired[float | None]
    """hPa"""
    no2: NotRequired[float | None]
    """µg/m³"""
    o3: NotRequired[float | None]
    """µg/m³"""
    co: NotRequired[float | None]
    """µg/m³"""
    so2: NotRequired[float | None]
    """µg/m³"""
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    """ppb"""
    noise: NotRequired[float | None]
    """dB(A)"""
    modified_at: NotRequired[str]
    """when its latest reading arrived, or its registry entry was written"""
    silence_seconds: NotRequired[int | None]
    """since its last reading arrived"""
    distance_m: NotRequired[int]
    """from `near`"""
    corrections: NotRequired[dict[str, object]]
    """by model and quantity, if `corrections` was given"""
    aqi_nowcast: NotRequired[int | None]
    """of now, as the index defines it"""
    aqi_24h: NotRequired[int | None]
    """of the means of the last 24 hours"""


class PickedSensorsPage(TypedDict):
    status: Literal['success']
    count: int
    total: int
    """of all pages"""
    next_cursor: str | None
    """null: this is the last page"""
    sensors: list[PickedSensor]
    corrections: NotRequired[list[CorrectionUsed]]
    """the models that `corrections` names"""


class SensorsGeoJson(TypedDict):
    type: Literal['FeatureCollection']
    features: list[SensorsGeoJsonFeatures]
    corrections: NotRequired[list[CorrectionUsed]]
    """the models that `corrections` names"""


class SensorsGeoJsonFeatures(TypedDict):
    type: Literal['Feature']
    geometry: SensorsGeoJsonFeaturesGeometry
    properties: Sensor | PickedSensor


class SensorsGeoJsonFeaturesGeometry(TypedDict):
    type: Literal['Point']
    coordinates: list[float]
    """lon, lat"""


class SensorPage(TypedDict):
    status: Literal['success']
    sensor: SensorDetails


class SensorDetails(TypedDict):
    id: str
    """NGR-LOS-{AREA}-{NUMBER}"""
    area: str
    location: Location
    status: Presence
    last_reading: str | None
    """ISO 8601, UTC, with milliseconds"""
    uptime_24h: float
    aqi: int | None
    """of its newest reading"""
    retired: bool
    """true: it was taken out of the network; its readings stay"""
    retired_at: str | None
    """ISO 8601, UTC, with milliseconds"""
    commissioned_at: str
    """when it became part of the network"""
    expected_interval_seconds: float
    make: str | None
    """who made the device; null: not known, as with the next"""
    model: str | None
    """what its maker calls it"""
    indoor: bool | None
    """true: it measures the air of a room"""
    height_m: float | None
    """above the ground"""
    licence: str | None
    """of its data; null: that of the network, /v1/network"""
    owner: str | None
    """whom to name"""
    sites: list[SensorDetailsSites]
    """where it was from when on, oldest first"""


SensorDetailsSites = TypedDict('SensorDetailsSites', {
    'from': "str",
    'until': "str | None",
    'area': "str",
    'lat': "float",
    'lon': "float",
})


class SensorStatus(TypedDict):
    status: Literal['success']
    sensor_id: str
    """NGR-LOS-{AREA}-{NUMBER}"""
    sensor_status: Presence
    retired: bool
    """true: it was taken out of the network; its readings stay"""
    retired_at: str | None
    """ISO 8601, UTC, with milliseconds"""
    commissioned_at: str
    """when it became part of the network"""
    expected_interval_seconds: float
    last_reading: str | None
    """ISO 8601, UTC, with milliseconds"""
    silence_seconds: int | None
    """since its last reading arrived"""
    offline_since: str | None
    """ISO 8601, UTC, with milliseconds"""
    uptime_24h: float
    latest: Reading | None
    aqi_nowcast: int | None
    """of now, as the index defines it"""
    aqi_24h: int | None
    """of the 24-hour means"""
    quality_level: Literal['good', 'suspect', 'fail']
    """of the sensor, by its fresh readings"""
    left_out_24h: int
    """readings of the last 24 clock hours that have failed, and are in neither of both"""
    pm25_corrected: SensorStatusPm25Corrected | None
    """PM2.5 of the latest reading by a published correction of low-cost sensors"""
    area: str
    location: Location


class SensorStatusPm25Corrected(TypedDict):
    value: float
    unit: str
    method: str


class Blockchain(TypedDict):
    hash: str
    verified: bool
    """its batch is final on the chain; /verify recomputes it from the row"""
    tx_hash: str | None
    """of the transaction that anchors its batch"""
    status: Literal['pending', 'anchoring', 'verified', 'mismatch']
    """in no batch yet; in one that is not final yet, or that was not checked for 5 minutes; anchored; not what was anchored"""


class Measurements(TypedDict):
    pm25: float | None
    """µg/m³"""
    pm10: float | None
    """µg/m³"""
    co2: float | None
    """ppm"""
    temperature: float | None
    """°C"""
    humidity: float | None
    """%RH"""
    pm1: NotRequired[float | None]
    """µg/m³"""
    pm4: NotRequired[float | None]
    """µg/m³"""
    pressure: NotRequired[float | None]
    """hPa"""
    no2: NotRequired[float | None]
    """µg/m³"""
    o3: NotRequired[float | None]
    """µg/m³"""
    co: NotRequired[float | None]
    """µg/m³"""
    so2: NotRequired[float | None]
    """µg/m³"""
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    """ppb"""
    noise: NotRequired[float | None]
    """dB(A)"""


class Reading(TypedDict):
    """a reading with everything that the two shapes have"""
    sensor_id: str
    """NGR-LOS-{AREA}-{NUMBER}"""
    timestamp: str
    """ISO 8601, UTC, with milliseconds"""
    aqi: int | None
    """of this reading alone, by the index that `index` names: US EPA AQI unless given"""
    pm25: float | None
    """µg/m³"""
    pm10: float | None
    """µg/m³"""
    co2: float | None
    """ppm"""
    temperature: float | None
    """°C"""
    humidity: float | None
    """%RH"""
    measurements: Measurements
    aqi_category: AqiCategory | None
    dominant_pollutant: Pollutant | None
    beyond_index: bool
    """above the table of the index; that of the US EPA ends at 500"""
    quality: list[str]
    """flags about the values; some may be added: dropped_pm25, dropped_pm10, dropped_co2, dropped_temperature, dropped_humidity, pm_high, pm_saturated, pm25_over_pm10, co2_unusual, temperature_unusual, humidity_stuck, time_assigned, dropped_pm1, dropped_pm4, dropped_pressure, dropped_no2, dropped_o3, dropped_co, dropped_so2, dropped_voc_index, dropped_nox_index, dropped_tvoc, dropped_noise, pm_flat, pm_stuck, pm_zero, pm_spike, pm_unlike_neighbours"""
    quality_level: Literal['good', 'suspect', 'fail']
    """of the worst of the flags"""
    blockchain: Blockchain
    blockchain_tx: str | None
    """of the transaction that anchors its batch"""
    pm1: NotRequired[float | None]
    """µg/m³"""
    pm4: NotRequired[float | None]
    """µg/m³"""
    pressure: NotRequired[float | None]
    """hPa"""
    no2: NotRequired[float | None]
    """µg/m³"""
    o3: NotRequired[float | None]
    """µg/m³"""
    co: NotRequired[float | None]
    """µg/m³"""
    so2: NotRequired[float | None]
    """µg/m³"""
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    """ppb"""
    noise: NotRequired[float | None]
    """dB(A)"""
    corrections: NotRequired[dict[str, object]]
    """by model and quantity, if `corrections` was given"""


class CorrectionUsed(TypedDict):
    name: str
    version: int
    hash: str


class Corrections(TypedDict):
    status: Literal['success']
    count: int
    corrections: list[CorrectionsCorrections]


class CorrectionsCorrections(TypedDict):
    name: str
    version: int
    title: str
    citation: str
    of: str
    range: dict[str, object]
    """quantity → its lowest and highest value"""
    pieces: list[dict[str, object]]
    """by `below`: the sum of `times` × the values to the powers named"""
    hash: str
    """SHA-256 of the model as JSON, keys sorted, without this"""
    kinds: NotRequired[list[str]]
    """devices that it was fitted to"""


class FlatReading(TypedDict):
    """a reading with shape=flat"""
    sensor_id: str
    """NGR-LOS-{AREA}-{NUMBER}"""
    timestamp: str
    """ISO 8601, UTC, with milliseconds"""
    aqi: int | None
    """of this reading alone, by the index that `index` names: US EPA AQI unless given"""
    pm25: float | None
    """µg/m³"""
    pm10: float | None
    """µg/m³"""
    co2: float | None
    """ppm"""
    temperature: float | None
    """°C"""
    humidity: float | None
    """%RH"""
    blockchain_tx: str | None
    """of the transaction that anchors its batch"""
    pm1: NotRequired[float | None]
    """µg/m³"""
    pm4: NotRequired[float | None]
    """µg/m³"""
    pressure: NotRequired[float | None]
    """hPa"""
    no2: NotRequired[float | None]
    """µg/m³"""
    o3: NotRequired[float | None]
    """µg/m³"""
    co: NotRequired[float | None]
    """µg/m³"""
    so2: NotRequired[float | None]
    """µg/m³"""
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    """ppb"""
    noise: NotRequired[float | None]
    """dB(A)"""


class NestedReading(TypedDict):
    """a reading with shape=nested"""
    sensor_id: str
    """NGR-LOS-{AREA}-{NUMBER}"""
    timestamp: str
    """ISO 8601, UTC, with milliseconds"""
    aqi: int | None
    """of this reading alone, by the index that `index` names: US EPA AQI unless given"""
    measurements: Measurements
    aqi_category: AqiCategory | None
    blockchain: Blockchain


class ReadingsPage(TypedDict):
    status: Literal['success']
    count: int
    next_cursor: str | None
    """null: this is the last page"""
    readings: list[Reading]
    sensor_id: NotRequired[str]
    """if one sensor was requested"""
    left_out: NotRequired[int]
    """by `quality`, if it was given"""
    corrections: NotRequired[list[CorrectionUsed]]
    """the models that `corrections` names"""


class FlatReadingsPage(TypedDict):
    status: Literal['success']
    count: int
    next_cursor: str | None
    """null: this is the last page"""
    readings: list[FlatReading]
    sensor_id: NotRequired[str]
    """if one sensor was requested"""
    left_out: NotRequired[int]
    """by `quality`, if it was given"""
    corrections: NotRequired[list[CorrectionUsed]]
    """the models that `corrections` names"""


class NestedReadingsPage(TypedDict):
    status: Literal['success']
    count: int
    next_cursor: str | None
    """null: this is the last page"""
    readings: list[NestedReading]
    sensor_id: NotRequired[str]
    """if one sensor was requested"""
    left_out: NotRequired[int]
    """by `quality`, if it was given"""
    corrections: NotRequired[list[CorrectionUsed]]
    """the models that `corrections` names"""


class ReadingsGeoJson(TypedDict):
    type: Literal['FeatureCollection']
    features: list[ReadingsGeoJsonFeatures]
    corrections: NotRequired[list[CorrectionUsed]]
    """the models that `corrections` names"""


class ReadingsGeoJsonFeatures(TypedDict):
    type: Literal['Feature']
    geometry: ReadingsGeoJsonFeaturesGeometry | None
    properties: Reading | FlatReading | NestedReading


class ReadingsGeoJsonFeaturesGeometry(TypedDict):
    type: Literal['Point']
    coordinates: list[float]
    """lon, lat"""


class Verification(TypedDict):
    status: Literal['pending', 'anchoring', 'verified', 'mismatch']
    """in no batch yet; in one that is not final yet, or that was not checked for 5 minutes; anchored; not what was anchored"""
    sensor_id: str
    """NGR-LOS-{AREA}-{NUMBER}"""
    timestamp: str
    """ISO 8601, UTC, with milliseconds"""
    reason: str | None
    """why it is anchoring or a mismatch, for programs"""
    reading_hash: str
    """the leaf, recomputed from the stored row"""
    merkle_root: str | None
    ledger_tx: str | None
    """the transaction for people: in an explorer, otherwise our page about the reading"""
    verified_at: str | None
    """now, if it is verified"""
    anchored_at: str | None
    """time of the block"""
    expected_by: str | None
    """when it should be final on the chain"""
    chain_checked_at: str | None
    """when the chain was last checked"""
    merkle_proof: VerificationMerkleProof | None
    ledger: VerificationLedger | None
    batch: VerificationBatch | None
    reading: VerificationReading
    """what the leaf is made of; measured values in hundredths"""
    proof_url: str | None
    """a complete address that needs no key, to share"""


class VerificationMerkleProof(TypedDict):
    root: str
    path: list[str]
    leaf_index: int
    leaf_count: int


class VerificationLedger(TypedDict):
    tx_hash: str
    explorer_url: str
    chain_id: int | None
    demonstration: bool | None
    """the operator runs this chain, so it proves nothing about time"""
    contract: str | None
    block_number: int | None
    block_hash: str | None
    finalized: VerificationLedgerFinalized | None


class VerificationLedgerFinalized(TypedDict):
    block_number: int
    block_hash: str


class VerificationBatch(TypedDict):
    index: int
    first: int
    last: int
    sealed_at: str
    """ISO 8601, UTC, with milliseconds"""


class VerificationReading(TypedDict):
    """what the leaf is made of; measured values in hundredths"""
    sensor_id: str
    time_ms: int
    seq: int
    pm25: int | None
    pm10: int | None
    co2: int | None
    temperature: int | None
    humidity: int | None
    aqi: int | None
    leaf_version: NotRequired[int]
    """2; absent: 1"""
    area: NotRequired[str]
    flags: NotRequired[int]
    device: NotRequired[str | None]
    """hash of key and signature of a device that signs"""
    pm1: NotRequired[int]
    pm4: NotRequired[int]
    pressure: NotRequired[int]
    no2: NotRequired[int]
    o3: NotRequired[int]
    co: NotRequired[int]
    so2: NotRequired[int]
    voc_index: NotRequired[int]
    nox_index: NotRequired[int]
    tvoc: NotRequired[int]
    noise: NotRequired[int]


ProofBundle: TypeAlias = "dict[str, object]"


class SensorCounts(TypedDict):
    total: int
    online: int
    offline: int


class ReportingCounts(TypedDict):
    reporting: int
    """sent a fresh reading within three of their intervals, by the clock: `online` changes later in an outage of many sensors"""
    never_reported: int
    """registered, and no reading of them was accepted yet"""


class AreaBrief(TypedDict):
    name: str
    code: str | None
    """the AREA part of its sensors’ ids"""
    slug: str
    sensors: SensorCounts
    presence: ReportingCounts
    last_updated: str | None
    """ISO 8601, UTC, with milliseconds"""


class Areas(TypedDict):
    status: Literal['success']
    count: int
    network: AreaBrief
    areas: list[AreaBrief]


class FieldStatistics(TypedDict):
    avg: float | None
    min: float | None
    max: float | None
    median: float | None
    p98: float | None
    unit: str


class MeasurementStatistics(TypedDict):
    pm25: FieldStatistics
    pm10: FieldStatistics
    co2: FieldStatistics
    temperature: FieldStatistics
    humidity: FieldStatistics
    pm1: NotRequired[FieldStatistics]
    pm4: NotRequired[FieldStatistics]
    pressure: NotRequired[FieldStatistics]
    no2: NotRequired[FieldStatistics]
    o3: NotRequired[FieldStatistics]
    co: NotRequired[FieldStatistics]
    so2: NotRequired[FieldStatistics]
    voc_index: NotRequired[FieldStatistics]
    nox_index: NotRequired[FieldStatistics]
    tvoc: NotRequired[FieldStatistics]
    noise: NotRequired[FieldStatistics]


class AqiStatistics(TypedDict):
    average: float | None
    median: float | None
    min: int | None
    max: int | None
    category: AqiCategory | None
    dominant_pollutant: Pollutant | None


class AreaStatistics(TypedDict):
    status: Literal['success']
    area: AreaStatisticsArea
    period: AreaStatisticsPeriod
    sensors: SensorCounts
    presence: ReportingCounts
    last_updated: str | None
    """ISO 8601, UTC, with milliseconds"""
    aqi: AreaStatisticsAqi
    measurements: MeasurementStatistics
    basis: Literal['readings', 'hourly_means']
    """what median and p98 are taken over"""
    coverage: AreaStatisticsCoverage
    left_out: int | None
    """readings that are in no number here, because they failed or by `quality`; null: not known, an earlier version wrote it with those that failed"""
    worst_sensor: AreaStatisticsWorstSensor | None
    interval: NotRequired[Literal['hour', 'day']]
    """as requested"""
    series: NotRequired[list[AreaBucket]]
    """if an interval was requested; steps without readings are left out"""


class AreaStatisticsArea(TypedDict):
    name: str
    code: str | None
    """the AREA part of its sensors’ ids"""


class AreaStatisticsPeriod(TypedDict):
    start_time: str
    """ISO 8601, UTC, with milliseconds"""
    end_time: str
    """ISO 8601, UTC, with milliseconds"""


class AreaStatisticsAqi(TypedDict):
    average: float | None
    median: float | None
    min: int | None
    max: int | None
    category: AqiCategory | None
    dominant_pollutant: Pollutant | None
    nowcast: int | None
    """null unless the period reaches the present"""
    nowcast_left_out: int | None
    """readings of the last 24 clock hours that have failed, and are not in `nowcast`"""


class AreaStatisticsCoverage(TypedDict):
    expected: int
    observed: int
    percent: float | None


class AreaStatisticsWorstSensor(TypedDict):
    sensor_id: str
    aqi: int
    timestamp: str
    """ISO 8601, UTC, with milliseconds"""


class AreaBucket(TypedDict):
    start_time: str
    """ISO 8601, UTC, with milliseconds"""
    readings: int
    left_out: int | None
    """readings that are in no number here, because they failed or by `quality`; null: not known, an earlier version wrote it with those that failed"""
    aqi: AqiStatistics
    measurements: MeasurementStatistics


class AqiScale(TypedDict):
    status: Literal['success']
    name: str
    revision: str
    """of the table: the day, or only the year"""
    averaging_hours: int
    """the index is defined for means over this many"""
    highest: int
    categories: list[AqiBand]


class AqiBand(TypedDict):
    category: AqiCategory
    aqi: AqiBandAqi
    pm25: AqiBandPm25
    pm10: AqiBandPm10
    color: str
    """as the institution that publishes the index shows it"""
    color_vision: str
    """for people with colour vision deficiency: neighbours differ by CIEDE2000 18 or more"""


class AqiBandAqi(TypedDict):
    low: int
    high: int


class AqiBandPm25(TypedDict):
    low: float
    high: float | None
    """null: the worst band has no end"""
    unit: str


class AqiBandPm10(TypedDict):
    low: float
    high: float | None
    """null: the worst band has no end"""
    unit: str


class Start(TypedDict):
    status: Literal['success']
    docs: str
    openapi: str


class SensorKeys(TypedDict):
    status: Literal['success']
    sensor_id: str
    signature: Literal['required', 'optional']
    """required: what is not signed is refused"""
    signature_since: str | None
    """null: not required, or that was not kept"""
    keys: list[SensorKeysKeys]
    """oldest first; of more than eight, the one that ended first is left out"""


SensorKeysKeys = TypedDict('SensorKeysKeys', {
    'algorithm': "Literal['ed25519', 'p256']",
    'public_key': "str",
    'from': "str",
    'until': "str | None",
    'added_at': "str | None",
})


class Network(TypedDict):
    format: Literal['airproof.network.v1']
    id: str
    """random, made once: cursors of another network are refused"""
    name: str
    api: str
    """the address that all paths of this document are below"""
    chain: NetworkChain | None
    """null: nothing is anchored yet"""
    contracts: list[NetworkContracts]
    """every contract that batches were anchored in, oldest first"""
    versions: NetworkVersions
    licence: str | None
    """of the data; null: the operator names none"""
    attribution: str
    """whom those who use the data should name"""
    archive: str | None
    """where the data can be downloaded; null: nowhere"""
    sensor_keys: str
    """where the public keys of a sensor are, by its id"""


class NetworkChain(TypedDict):
    id: int
    """as in EIP-155"""
    name: str
    demonstration: bool
    """the operator runs this chain, so it proves nothing about time"""


class NetworkContracts(TypedDict):
    address: str
    version: int
    block: int
    """where it was deployed, or before"""
    code_hash: str
    """keccak256 of its code with zeros in place of the owner"""
    owner_at: list[int]
    """where the code holds the owner: 32 bytes from each of these on"""
    last_batch: int | None
    """the last batch that counts in it; null: it is in use"""
    begins: NotRequired[NetworkContractsBegins]
    """in every contract or in none: then the end of one that was given up is not known now"""
    ends: NotRequired[NetworkContractsEnds | None]
    """null: it is in use, or no batch of it counts"""


class NetworkContractsBegins(TypedDict):
    """in every contract or in none: then the end of one that was given up is not known now"""
    after_batch: int
    """its first batch is the next one; 0: batch 1"""
    head: str
    """of the contract, before its first batch"""
    numbers: list[int]
    """the last ones that are not of this contract"""


class NetworkContractsEnds(TypedDict):
    block: int
    """that holds the last batch"""
    tx_index: int
    """the place of its transaction in the block"""
    head: str
    """of the contract, after that batch"""
    numbers: list[int]
    """the last ones that are of this contract"""


class NetworkVersions(TypedDict):
    software: str
    """of airproof, as the API runs it"""
    api: list[str]
    leaf: list[int]
    header: list[int]
    bundle: list[str]
    format_level: int
    """in which formats its processes write"""


class StatisticsPage(TypedDict):
    status: Literal['success']
    interval: Literal['10_minutes', 'hour', '3_hours', 'day', 'month', 'year', 'hour_of_day', 'weekday', 'hour_of_week']
    timezone: str
    period: StatisticsPagePeriod
    index: str
    quality: Literal['good', 'suspect', 'all']
    basis: Literal['readings', 'hourly_means']
    """what the quantiles are of; n, mean, sd, min and max are always of the readings"""
    count: int
    next_cursor: str | None
    """null: this is the last page"""
    statistics: list[StatisticsStep]
    sensor_id: NotRequired[str]
    area: NotRequired[StatisticsPageArea]
    bbox: NotRequired[str]
    sensors: NotRequired[int]
    """how many are in the box now"""
    corrections: NotRequired[list[CorrectionUsed]]
    """the models that `corrections` names"""


class StatisticsPagePeriod(TypedDict):
    start_time: str
    """ISO 8601, UTC, with milliseconds"""
    end_time: str
    """ISO 8601, UTC, with milliseconds"""


class StatisticsPageArea(TypedDict):
    name: str
    code: str | None


class StatisticsStep(TypedDict):
    coverage: StatisticsStepCoverage
    left_out: int | None
    """readings that are in no number here, because they failed or by `quality`; null: not known, an earlier version wrote it with those that failed"""
    valid: bool
    """75 % of the readings that the whole step should have are there"""
    aqi: StatisticsStepAqi
    measurements: StatisticsStepMeasurements
    """those that were asked for"""
    start_time: NotRequired[str]
    """ISO 8601, UTC, with milliseconds"""
    end_time: NotRequired[str]
    """ISO 8601, UTC, with milliseconds"""
    local_start: NotRequired[str]
    """start_time with the offset of the zone"""
    hour: NotRequired[int]
    """of the day, 0 to 23; with interval=hour_of_day or hour_of_week"""
    weekday: NotRequired[str]
    """monday to sunday; with interval=weekday or hour_of_week"""
    corrections: NotRequired[dict[str, object]]
    """by model and quantity, if `corrections` was given"""


class StatisticsStepCoverage(TypedDict):
    expected: int
    observed: int
    """that the numbers are of"""
    percent: float | None


class StatisticsStepAqi(TypedDict):
    n: int | None
    category: AqiCategory | None
    dominant_pollutant: str | None
    mean: NotRequired[float | None]
    sd: NotRequired[float | None]
    """of a sample (n − 1); null below two values"""
    min: NotRequired[float | None]
    q02: NotRequired[float | None]
    q25: NotRequired[float | None]
    median: NotRequired[float | None]
    q75: NotRequired[float | None]
    q98: NotRequired[float | None]
    max: NotRequired[float | None]


class StatisticsStepMeasurements(TypedDict):
    """those that were asked for"""
    pm25: NotRequired[StepMeasurement]
    pm10: NotRequired[StepMeasurement]
    co2: NotRequired[StepMeasurement]
    temperature: NotRequired[StepMeasurement]
    humidity: NotRequired[StepMeasurement]
    pm1: NotRequired[StepMeasurement]
    pm4: NotRequired[StepMeasurement]
    pressure: NotRequired[StepMeasurement]
    no2: NotRequired[StepMeasurement]
    o3: NotRequired[StepMeasurement]
    co: NotRequired[StepMeasurement]
    so2: NotRequired[StepMeasurement]
    voc_index: NotRequired[StepMeasurement]
    nox_index: NotRequired[StepMeasurement]
    tvoc: NotRequired[StepMeasurement]
    noise: NotRequired[StepMeasurement]


class Report(TypedDict):
    status: Literal['success']
    year: int
    timezone: str
    quality: Literal['good', 'suspect', 'all']
    period: ReportPeriod
    days: ReportDays
    coverage: ReportCoverage
    left_out: int | None
    """readings that are in no number here, because they failed or by `quality`; null: not known, an earlier version wrote it with those that failed"""
    pm25: PollutantReport
    pm10: PollutantReport
    index: ReportIndex
    sensor_id: NotRequired[str]
    area: NotRequired[ReportArea]


class ReportPeriod(TypedDict):
    start_time: str
    """ISO 8601, UTC, with milliseconds"""
    end_time: str
    """ISO 8601, UTC, with milliseconds"""


class ReportDays(TypedDict):
    in_year: int
    over: int
    """that are over and should have readings"""


class ReportCoverage(TypedDict):
    expected: int
    observed: int
    """that the numbers are of"""
    percent: float | None


class ReportIndex(TypedDict):
    name: str
    title: str
    averaging_hours: int
    valid_days: int
    categories: list[ReportIndexCategories]


class ReportIndexCategories(TypedDict):
    category: AqiCategory
    days: int


class ReportArea(TypedDict):
    name: str
    code: str | None


class PollutantReport(TypedDict):
    unit: str
    valid_days: int
    completeness_percent: float | None
    """valid days of those that are over"""
    valid: bool
    """75 % of the days are valid"""
    annual_mean: float | None
    """of the valid days"""
    p99_of_days: float | None
    highest_day: float | None
    who_24_hours: list[PollutantReportWho_24Hours]
    who_year: list[PollutantReportWhoYear]


class PollutantReportWho_24Hours(TypedDict):
    level: Literal['it_1', 'it_2', 'it_3', 'it_4', 'guideline']
    limit: float
    days_over: int | None


class PollutantReportWhoYear(TypedDict):
    level: Literal['it_1', 'it_2', 'it_3', 'it_4', 'guideline']
    limit: float
    met: bool | None


class StepMeasurement(TypedDict):
    n: int
    unit: str
    valid: bool
    """75 % of the readings that the whole step should have are there"""
    mean: NotRequired[float | None]
    sd: NotRequired[float | None]
    """of a sample (n − 1); null below two values"""
    min: NotRequired[float | None]
    q02: NotRequired[float | None]
    q25: NotRequired[float | None]
    median: NotRequired[float | None]
    q75: NotRequired[float | None]
    q98: NotRequired[float | None]
    max: NotRequired[float | None]


class Usage(TypedDict):
    status: Literal['success']
    tier: Literal['free', 'premium']
    limit: int
    used: int
    remaining: int
    reset: str
    """ISO 8601, UTC, with milliseconds"""
    burst: UsageBurst
    """the same of this minute"""
    days: list[UsageDays]
    """the last 30 days of UTC, today first"""
    keys: list[UsageKeys]
    """those that are valid now"""


class UsageBurst(TypedDict):
    """the same of this minute"""
    limit: int
    used: int
    remaining: int
    reset: str
    """ISO 8601, UTC, with milliseconds"""


class UsageDays(TypedDict):
    date: str
    used: int


class UsageKeys(TypedDict):
    id: str
    name: str
    hint: str
    """the first characters of the key"""
    last_used_at: str | None
    """to the minute; null: never"""


class StreamToken(TypedDict):
    status: Literal['success']
    token: str
    """opens streams, as `token` of /v1/stream"""
    url: str
    """the stream with it, as a path on this server"""
    expires_at: str
    """until when a stream can be opened; an open one goes on"""


class ChangesPage(TypedDict):
    status: Literal['success']
    count: int
    next_cursor: str
    """the place after this page: `after` of the next request"""
    more: bool
    """the log has more already; false: you have everything"""
    gap: Gap | None
    """what was passed over; null: nothing"""
    readings: list[Reading]


class FlatChangesPage(TypedDict):
    status: Literal['success']
    count: int
    next_cursor: str
    """the place after this page: `after` of the next request"""
    more: bool
    """the log has more already; false: you have everything"""
    gap: Gap | None
    """what was passed over; null: nothing"""
    readings: list[FlatReading]


class NestedChangesPage(TypedDict):
    status: Literal['success']
    count: int
    next_cursor: str
    """the place after this page: `after` of the next request"""
    more: bool
    """the log has more already; false: you have everything"""
    gap: Gap | None
    """what was passed over; null: nothing"""
    readings: list[NestedReading]


Gap = TypedDict('Gap', {
    'from': "str | None",
    'to': "str | None",
    'archive': "str | None",
})


AttemptError: TypeAlias = "Literal['status', 'dns', 'blocked_address', 'connect', 'connect_timeout', 'tls', 'timeout', 'protocol', 'closed', 'secret', 'url', 'cancelled']"


class Webhook(TypedDict):
    id: str
    url: str
    description: str | None
    events: list[Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']]
    filters: WebhookFilters
    active: bool
    """false: events are not queued for it"""
    paused: bool
    """true: events are queued, and sent when it is resumed"""
    suspended: bool
    """true: your account is not premium; events are queued, and sent once it is"""
    disabled: WebhookDisabled | None
    previous_secret_until: str | None
    """while two secrets sign"""
    created_at: str
    """ISO 8601, UTC, with milliseconds"""
    updated_at: str
    """ISO 8601, UTC, with milliseconds"""


class WebhookFilters(TypedDict):
    sensor_id: NotRequired[str]
    """canonical"""
    area: NotRequired[str]
    """name or slug, any case"""
    aqi_threshold: NotRequired[float]
    min_quality: NotRequired[Literal['good', 'suspect', 'fail']]
    """events about a reading only if it is at least so good"""


class WebhookDisabled(TypedDict):
    reason: Literal['gone', 'failing', 'operator']
    at: str
    """ISO 8601, UTC, with milliseconds"""
    detail: NotRequired[str]


class Webhooks(TypedDict):
    status: Literal['success']
    count: int
    webhooks: list[Webhook]


class OneWebhook(TypedDict):
    status: Literal['success']
    webhook: Webhook


class CreatedWebhook(TypedDict):
    status: Literal['success']
    webhook: CreatedWebhookWebhook


class CreatedWebhookWebhook(TypedDict):
    id: str
    url: str
    description: str | None
    events: list[Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']]
    filters: CreatedWebhookWebhookFilters
    active: bool
    """false: events are not queued for it"""
    paused: bool
    """true: events are queued, and sent when it is resumed"""
    suspended: bool
    """true: your account is not premium; events are queued, and sent once it is"""
    disabled: CreatedWebhookWebhookDisabled | None
    previous_secret_until: str | None
    """while two secrets sign"""
    created_at: str
    """ISO 8601, UTC, with milliseconds"""
    updated_at: str
    """ISO 8601, UTC, with milliseconds"""
    secret: str
    """shown now and never again"""
    armed_now: bool
    """false: the index of a sensor rose above a threshold already, and further rises are not sent until two readings in a row are 10 or more below it"""


class CreatedWebhookWebhookFilters(TypedDict):
    sensor_id: NotRequired[str]
    """canonical"""
    area: NotRequired[str]
    """name or slug, any case"""
    aqi_threshold: NotRequired[float]
    min_quality: NotRequired[Literal['good', 'suspect', 'fail']]
    """events about a reading only if it is at least so good"""


class CreatedWebhookWebhookDisabled(TypedDict):
    reason: Literal['gone', 'failing', 'operator']
    at: str
    """ISO 8601, UTC, with milliseconds"""
    detail: NotRequired[str]


class WebhookWithSecret(TypedDict):
    status: Literal['success']
    webhook: WebhookWithSecretWebhook


class WebhookWithSecretWebhook(TypedDict):
    id: str
    url: str
    description: str | None
    events: list[Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']]
    filters: WebhookWithSecretWebhookFilters
    active: bool
    """false: events are not queued for it"""
    paused: bool
    """true: events are queued, and sent when it is resumed"""
    suspended: bool
    """true: your account is not premium; events are queued, and sent once it is"""
    disabled: WebhookWithSecretWebhookDisabled | None
    previous_secret_until: str | None
    """while two secrets sign"""
    created_at: str
    """ISO 8601, UTC, with milliseconds"""
    updated_at: str
    """ISO 8601, UTC, with milliseconds"""
    secret: str
    """shown now and never again"""


class WebhookWithSecretWebhookFilters(TypedDict):
    sensor_id: NotRequired[str]
    """canonical"""
    area: NotRequired[str]
    """name or slug, any case"""
    aqi_threshold: NotRequired[float]
    min_quality: NotRequired[Literal['good', 'suspect', 'fail']]
    """events about a reading only if it is at least so good"""


class WebhookWithSecretWebhookDisabled(TypedDict):
    reason: Literal['gone', 'failing', 'operator']
    at: str
    """ISO 8601, UTC, with milliseconds"""
    detail: NotRequired[str]


class DeletedWebhook(TypedDict):
    status: Literal['success']
    webhook: DeletedWebhookWebhook


class DeletedWebhookWebhook(TypedDict):
    id: str
    deleted: Literal[True]


class Attempt(TypedDict):
    attempt: int
    trigger: Literal['event', 'replay', 'recover', 'test']
    at: str
    """ISO 8601, UTC, with milliseconds"""
    outcome: Literal['delivered', 'retry', 'dead', 'disabled', 'cancelled']
    error: AttemptError | None
    error_detail: str | None
    next_attempt_at: str | None
    """ISO 8601, UTC, with milliseconds"""
    request: AttemptRequest
    response: AttemptResponse | None
    timings_ms: AttemptTimingsMs


class AttemptRequest(TypedDict):
    url: str
    address: str | None
    """the address that was dialled"""
    headers: list[list[str]]
    """name and value, in the order of the wire"""
    body_bytes: int
    body: str


class AttemptResponse(TypedDict):
    status: int
    headers: list[list[str]]
    """name and value, in the order of the wire"""
    body: str
    """the first 8 KiB"""
    body_encoding: Literal['utf8', 'base64']
    truncated: bool


class AttemptTimingsMs(TypedDict):
    resolve: float | None
    """ms; null: not reached"""
    connect: float | None
    """ms; null: not reached"""
    first_byte: float | None
    """ms; null: not reached"""
    total: float | None
    """ms; null: not reached"""


class TestedWebhook(TypedDict):
    status: Literal['success']
    delivery: str
    attempt: Attempt


class TriedDelivery(TypedDict):
    id: str
    key: str
    """names the event and webhook of the delivery: an alternative to its id"""
    event: Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']
    attempt: int
    trigger: Literal['event', 'replay', 'recover', 'test']
    at: str
    """ISO 8601, UTC, with milliseconds"""
    outcome: Literal['delivered', 'retry', 'dead', 'disabled', 'cancelled']
    error: AttemptError | None
    error_detail: str | None
    next_attempt_at: str | None
    """ISO 8601, UTC, with milliseconds"""
    response_status: int | None
    duration_ms: float | None


class WaitingDelivery(TypedDict):
    id: str | None
    """null: its event is not stored any more"""
    key: str
    """names the event and webhook of the delivery: an alternative to its id"""
    event: Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']
    trigger: Literal['event', 'replay', 'recover', 'test']
    state: Literal['pending', 'in_flight', 'dead']
    attempts: int
    """made so far"""
    due_at: str | None
    """ISO 8601, UTC, with milliseconds"""


class DeliveriesPage(TypedDict):
    status: Literal['success']
    count: int
    next_cursor: str | None
    """null: this is the last page"""
    deliveries: list[TriedDelivery | WaitingDelivery]
    total: NotRequired[int]
    """with state=pending or dead: how many there are in total"""
    is_behind: NotRequired[bool]
    """with state=pending or dead: some events are not queued yet"""


class OneDelivery(TypedDict):
    status: Literal['success']
    delivery: OneDeliveryDelivery


class OneDeliveryDelivery(TypedDict):
    id: str | None
    key: str
    """names the event and webhook of the delivery: an alternative to its id"""
    event: Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']
    state: Literal['pending', 'in_flight', 'delivered', 'dead', 'disabled', 'cancelled']
    due_at: str | None
    """ISO 8601, UTC, with milliseconds"""
    attempts: list[Attempt]


class QueuedDelivery(TypedDict):
    status: Literal['success']
    delivery: QueuedDeliveryDelivery


class QueuedDeliveryDelivery(TypedDict):
    id: str
    key: str
    """names the event and webhook of the delivery: an alternative to its id"""


class QueuedRecovery(TypedDict):
    status: Literal['success']
    since: str
    """ISO 8601, UTC, with milliseconds"""


class NewWebhook(TypedDict):
    url: str
    description: NotRequired[str]
    events: list[Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']]
    filters: NotRequired[NewWebhookFilters]


class NewWebhookFilters(TypedDict):
    sensor_id: NotRequired[str]
    """canonical"""
    area: NotRequired[str]
    """name or slug, any case"""
    aqi_threshold: NotRequired[float]
    min_quality: NotRequired[Literal['good', 'suspect', 'fail']]
    """events about a reading only if it is at least so good"""


class WebhookPatch(TypedDict):
    url: NotRequired[str]
    description: NotRequired[str | None]
    events: NotRequired[list[Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']]]
    filters: NotRequired[WebhookPatchFilters | None]
    active: NotRequired[bool]


class WebhookPatchFilters(TypedDict):
    sensor_id: NotRequired[str | None]
    """canonical"""
    area: NotRequired[str | None]
    """name or slug, any case"""
    aqi_threshold: NotRequired[float | None]
    min_quality: NotRequired[Literal['good', 'suspect', 'fail', None]]
    """events about a reading only if it is at least so good"""


class Rotation(TypedDict):
    overlap_seconds: NotRequired[int]


class TestRequest(TypedDict):
    event: NotRequired[Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']]


class Recovery(TypedDict):
    since: str


class AqiHighPayload(TypedDict):
    event: Literal['aqi.high']
    timestamp: str
    """ISO 8601, UTC"""
    data: AqiHighPayloadData


class AqiHighPayloadData(TypedDict):
    sensor_id: str
    """canonical id of the sensor"""
    aqi: int
    location: str
    """address of the sensor"""
    measurements: AqiHighPayloadDataMeasurements
    aqi_category: Literal['good', 'moderate', 'unhealthy_sensitive', 'unhealthy', 'very_unhealthy', 'hazardous']
    threshold: float
    """the index rose above it"""
    previous_aqi: int | None
    hash: str
    """leaf"""
    quality: list[str]
    """flags about the values"""
    quality_level: Literal['good', 'suspect', 'fail']
    """of the worst of the flags"""


class AqiHighPayloadDataMeasurements(TypedDict):
    pm25: float | None
    pm10: float | None
    co2: float | None
    temperature: float | None
    humidity: float | None
    pm1: NotRequired[float | None]
    pm4: NotRequired[float | None]
    pressure: NotRequired[float | None]
    no2: NotRequired[float | None]
    o3: NotRequired[float | None]
    co: NotRequired[float | None]
    so2: NotRequired[float | None]
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    noise: NotRequired[float | None]


class AqiCriticalPayload(TypedDict):
    event: Literal['aqi.critical']
    timestamp: str
    """ISO 8601, UTC"""
    data: AqiCriticalPayloadData


class AqiCriticalPayloadData(TypedDict):
    sensor_id: str
    """canonical id of the sensor"""
    aqi: int
    location: str
    """address of the sensor"""
    measurements: AqiCriticalPayloadDataMeasurements
    aqi_category: Literal['good', 'moderate', 'unhealthy_sensitive', 'unhealthy', 'very_unhealthy', 'hazardous']
    threshold: float
    """the index rose above it"""
    previous_aqi: int | None
    hash: str
    """leaf"""
    quality: list[str]
    """flags about the values"""
    quality_level: Literal['good', 'suspect', 'fail']
    """of the worst of the flags"""


class AqiCriticalPayloadDataMeasurements(TypedDict):
    pm25: float | None
    pm10: float | None
    co2: float | None
    temperature: float | None
    humidity: float | None
    pm1: NotRequired[float | None]
    pm4: NotRequired[float | None]
    pressure: NotRequired[float | None]
    no2: NotRequired[float | None]
    o3: NotRequired[float | None]
    co: NotRequired[float | None]
    so2: NotRequired[float | None]
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    noise: NotRequired[float | None]


class SensorOfflinePayload(TypedDict):
    event: Literal['sensor.offline']
    timestamp: str
    """ISO 8601, UTC"""
    data: SensorOfflinePayloadData


class SensorOfflinePayloadData(TypedDict):
    sensor_id: str
    """canonical id of the sensor"""
    location: str
    """address of the sensor"""
    last_reading: str
    """ISO 8601, UTC"""
    offline_since: str
    """ISO 8601, UTC"""
    silence_seconds: int


class SensorOnlinePayload(TypedDict):
    event: Literal['sensor.online']
    timestamp: str
    """ISO 8601, UTC"""
    data: SensorOnlinePayloadData


class SensorOnlinePayloadData(TypedDict):
    sensor_id: str
    """canonical id of the sensor"""
    location: str
    """address of the sensor"""
    last_reading: str
    """ISO 8601, UTC"""
    downtime_seconds: int | None
    """null: never heard before"""


class ReadingNewPayload(TypedDict):
    event: Literal['reading.new']
    timestamp: str
    """ISO 8601, UTC"""
    data: ReadingNewPayloadData


class ReadingNewPayloadData(TypedDict):
    sensor_id: str
    """canonical id of the sensor"""
    location: str
    """address of the sensor"""
    aqi: int | None
    aqi_category: Literal['good', 'moderate', 'unhealthy_sensitive', 'unhealthy', 'very_unhealthy', 'hazardous', None]
    measurements: ReadingNewPayloadDataMeasurements
    hash: str
    """leaf"""
    quality: list[str]
    """flags about the values"""
    quality_level: Literal['good', 'suspect', 'fail']
    """of the worst of the flags"""


class ReadingNewPayloadDataMeasurements(TypedDict):
    pm25: float | None
    pm10: float | None
    co2: float | None
    temperature: float | None
    humidity: float | None
    pm1: NotRequired[float | None]
    pm4: NotRequired[float | None]
    pressure: NotRequired[float | None]
    no2: NotRequired[float | None]
    o3: NotRequired[float | None]
    co: NotRequired[float | None]
    so2: NotRequired[float | None]
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    noise: NotRequired[float | None]


class ReadingAnchoredPayload(TypedDict):
    event: Literal['reading.anchored']
    timestamp: str
    """ISO 8601, UTC"""
    data: ReadingAnchoredPayloadData


class ReadingAnchoredPayloadData(TypedDict):
    sensor_id: str
    """canonical id of the sensor"""
    location: str
    """address of the sensor"""
    reading_timestamp: str
    """ISO 8601, UTC"""
    seq: int
    """number of the reading in the log"""
    hash: str
    """leaf"""
    batch_index: int
    """of the batch that holds it"""
    merkle_root: str
    tx_hash: str
    block_number: int
    block_hash: str
    chain_id: int
    contract: str
    proof_url: str
    """page and bundle that prove it, for everyone"""


class SensorQualityPayload(TypedDict):
    event: Literal['sensor.quality']
    timestamp: str
    """ISO 8601, UTC"""
    data: SensorQualityPayloadData


class SensorQualityPayloadData(TypedDict):
    sensor_id: str
    """canonical id of the sensor"""
    location: str
    """address of the sensor"""
    quality_level: Literal['good', 'suspect', 'fail']
    """of the sensor from this reading on"""
    previous_level: Literal['good', 'suspect', 'fail']
    quality: list[str]
    """flags about the values"""
    reading_timestamp: str
    """ISO 8601, UTC"""
    measurements: SensorQualityPayloadDataMeasurements
    hash: str
    """leaf"""


class SensorQualityPayloadDataMeasurements(TypedDict):
    pm25: float | None
    pm10: float | None
    co2: float | None
    temperature: float | None
    humidity: float | None
    pm1: NotRequired[float | None]
    pm4: NotRequired[float | None]
    pressure: NotRequired[float | None]
    no2: NotRequired[float | None]
    o3: NotRequired[float | None]
    co: NotRequired[float | None]
    so2: NotRequired[float | None]
    voc_index: NotRequired[float | None]
    nox_index: NotRequired[float | None]
    tvoc: NotRequired[float | None]
    noise: NotRequired[float | None]


class Error(TypedDict):
    status: Literal['error']
    error: ErrorError
    request_id: str
    """as in the header X-Request-Id"""


class ErrorError(TypedDict):
    code: str
    """for programs; more may be added. bad_request, bad_encoding, bad_parameter, unknown_parameter, repeated_parameter, bad_cursor, bad_idempotency_key, not_json, invalid_body, account_needed, missing_key, invalid_key, expired_key, revoked_key, unknown_account, invalid_token, premium_required, not_found, sensor_not_found, sensor_ambiguous, area_not_found, reading_not_found, not_anchored_yet, webhook_not_found, delivery_not_found, method_not_allowed, not_acceptable, too_slow, idempotency_key_used, too_many_webhooks, webhook_disabled, disabled_by_operator, other_hash, mismatch, body_too_large, url_too_long, unsupported_media_type, quota_exceeded, too_many_requests, too_many_streams, too_much_unread, headers_too_large, internal, history_unavailable, archive_unavailable, keys_unknown, quota_unknown, log_unavailable, stream_unavailable, overloaded, took_too_long, proofs_unavailable, webhooks_unavailable, deliveries_unavailable, webhook_busy"""
    message: str
    """for people: what is wrong and what to do"""
    details: ErrorDetails


class Problem(TypedDict):
    """the same as RFC 9457 problem details, if Accept asks for them"""
    type: Literal['about:blank']
    title: str
    status: int
    detail: str
    """for people: what is wrong and what to do"""
    code: str
    """for programs; more may be added. bad_request, bad_encoding, bad_parameter, unknown_parameter, repeated_parameter, bad_cursor, bad_idempotency_key, not_json, invalid_body, account_needed, missing_key, invalid_key, expired_key, revoked_key, unknown_account, invalid_token, premium_required, not_found, sensor_not_found, sensor_ambiguous, area_not_found, reading_not_found, not_anchored_yet, webhook_not_found, delivery_not_found, method_not_allowed, not_acceptable, too_slow, idempotency_key_used, too_many_webhooks, webhook_disabled, disabled_by_operator, other_hash, mismatch, body_too_large, url_too_long, unsupported_media_type, quota_exceeded, too_many_requests, too_many_streams, too_much_unread, headers_too_large, internal, history_unavailable, archive_unavailable, keys_unknown, quota_unknown, log_unavailable, stream_unavailable, overloaded, took_too_long, proofs_unavailable, webhooks_unavailable, deliveries_unavailable, webhook_busy"""
    details: ErrorDetails
    request_id: str
    """as in the header X-Request-Id"""


class ErrorDetails(TypedDict):
    """more about the error; the code decides which fields there are"""
    parameter: NotRequired[str]
    given: NotRequired[str | None]
    """shortened; null: it is missing"""
    expected: NotRequired[str]
    """what a valid value is"""
    fields: NotRequired[list[ErrorDetailsFields]]
    known: NotRequired[list[str]]
    """the parameters that the address accepts"""
    allowed: NotRequired[list[str]]
    """the methods that the address allows"""
    available: NotRequired[list[str]]
    """the media types, or the codings, that are available"""
    sensor_id: NotRequired[str]
    expected_format: NotRequired[str]
    candidates: NotRequired[list[str]]
    area_name: NotRequired[str]
    webhook_id: NotRequired[str]
    delivery_id: NotRequired[str]
    reason: NotRequired[str]
    reading_hash: NotRequired[str]
    expected_by: NotRequired[str]
    """ISO 8601, UTC, with milliseconds"""
    limit: NotRequired[int]


class ErrorDetailsFields(TypedDict):
    field: str
    """names joined by dots; `body` for the whole body"""
    given: str | None
    """as JSON, shortened; null: it is missing"""
    expected: str


class SensorsQuery(TypedDict, total=False):
    status: Literal['online', 'offline']
    """only these"""
    area: str
    """name, code or slug of an area in any case, or the network’s name; 404 if there is no such area"""
    bbox: str
    """west,south,east,north in degrees; an east above 180 spans the antimeridian; 400 if it misses the network and would not with latitude and longitude swapped"""
    near: str
    """lat,lon in degrees; needs radius, but not with include=latest, which then sorts by distance"""
    radius: float
    """metres around near, which is required; at most 200000"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""
    include: Literal['latest']
    """adds the latest reading of each"""
    ids: str
    """only these sensors, between commas; at most 200, all in use"""
    modified_since: Time
    """only those whose latest reading arrived, or whose registry entry was written, at that time or later"""
    quality: Literal['good', 'suspect', 'all']
    """good: only readings of that level; suspect: those and suspect ones; all, as without it: every one; a page of readings then has `left_out`, and may be short: continue until next_cursor is null"""
    corrections: str
    """adds corrected values by these models, between commas; /v1/corrections has them"""


class ListSensorsQuery(SensorsQuery, total=False):
    limit: int
    """at most this many, 1 to 1000; 100 unless given"""
    cursor: str
    """next_cursor of the page before, with the same other parameters"""
    fields: str
    """only these, in this order, between commas"""


class ShowSensorQuery(TypedDict, total=False):
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""


class SensorStatusQuery(TypedDict, total=False):
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""


class ReadingsQuery(TypedDict, total=False):
    sensor_id: str
    """of this sensor only; the id or its short form"""
    start_time: Time
    """inclusive"""
    end_time: Time
    """exclusive, and later than start_time"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""
    order: Literal['desc', 'asc']
    """by time: newest first, or oldest first; a cursor goes on in its own order only"""
    quality: Literal['good', 'suspect', 'all']
    """good: only readings of that level; suspect: those and suspect ones; all, as without it: every one; a page of readings then has `left_out`, and may be short: continue until next_cursor is null"""
    corrections: str
    """adds corrected values by these models, between commas; /v1/corrections has them"""


class ListReadingsQuery(ReadingsQuery, total=False):
    shape: Literal['flat', 'nested']
    """only the fields of that shape; not with CSV"""
    limit: int
    """at most this many, 1 to 1000; 10 unless given"""
    cursor: str
    """next_cursor of the page before, with the same other parameters"""


class ListChangesQuery(TypedDict, total=False):
    after: str
    """next_cursor of an earlier answer, the id of an event of the stream, or start: the oldest that the log holds; from now on unless given"""
    limit: int
    """at most this many, 1 to 5000; 1000 unless given"""
    sensor_id: str
    """of this sensor only; the id or its short form"""
    area: str
    """name, code or slug of an area in any case, or the network’s name; 404 if there is no such area; of a reading it is the area where its sensor was then"""
    shape: Literal['flat', 'nested']
    """only the fields of that shape; not with CSV"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""


class VerifyReadingQuery(TypedDict, total=False):
    timestamp: Required[Time]
    """of the reading"""


class ProofOfReadingQuery(TypedDict, total=False):
    timestamp: Required[Time]
    """of the reading"""
    hash: str
    """answers 409 if the reading has another hash"""


class OpenProofQuery(TypedDict, total=False):
    hash: str
    """answers 409 if the reading has another hash"""


class ShowAreaQuery(TypedDict, total=False):
    start_time: Time
    """inclusive"""
    end_time: Time
    """exclusive, and later than start_time"""
    interval: Literal['hour', 'day']
    """adds `series`, in steps of UTC"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""


class AllStatisticsOfSensorQuery(TypedDict, total=False):
    interval: Literal['10_minutes', 'hour', '3_hours', 'day', 'month', 'year', 'hour_of_day', 'weekday', 'hour_of_week']
    """the steps, in local time of `timezone`; `10_minutes` are made of readings, so they are 400 where only the archive has those"""
    timezone: str
    """a name of the IANA time zones: a time without an offset is one of the zone, and days begin at its midnight"""
    start_time: Time
    """inclusive"""
    end_time: Time
    """exclusive, and later than start_time"""
    measurements: str
    """names between commas; the basic five unless given"""
    numbers: str
    """names between commas: of each quantity and of `aqi` only these beside `n`; all unless given"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""
    quality: Literal['good', 'suspect', 'all']
    """good: only readings of that level; suspect: those and suspect ones; all: every one, also those that failed. The others are counted in `left_out`. Hours and days are written of the usual ones, so with another quality, and with corrections, everything is computed from readings: pages are shorter, and a step of more than 1,000,000 readings is refused"""
    corrections: str
    """adds corrected values by these models, between commas; /v1/corrections has them"""


class StatisticsOfSensorQuery(AllStatisticsOfSensorQuery, total=False):
    limit: int
    """at most this many steps, 1 to 1000; a page ends earlier where its steps are long"""
    cursor: str
    """next_cursor of the page before, with the same other parameters"""


class AllStatisticsOfAreaQuery(TypedDict, total=False):
    interval: Literal['10_minutes', 'hour', '3_hours', 'day', 'month', 'year', 'hour_of_day', 'weekday', 'hour_of_week']
    """the steps, in local time of `timezone`; `10_minutes` are made of readings, so they are 400 where only the archive has those"""
    timezone: str
    """a name of the IANA time zones: a time without an offset is one of the zone, and days begin at its midnight"""
    start_time: Time
    """inclusive"""
    end_time: Time
    """exclusive, and later than start_time"""
    measurements: str
    """names between commas; the basic five unless given"""
    numbers: str
    """names between commas: of each quantity and of `aqi` only these beside `n`; all unless given"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""
    quality: Literal['good', 'suspect', 'all']
    """good: only readings of that level; suspect: those and suspect ones; all: every one, also those that failed. The others are counted in `left_out`. Hours and days are written of the usual ones, so with another quality, and with corrections, everything is computed from readings: pages are shorter, and a step of more than 1,000,000 readings is refused"""
    corrections: str
    """adds corrected values by these models, between commas; /v1/corrections has them"""


class StatisticsOfAreaQuery(AllStatisticsOfAreaQuery, total=False):
    limit: int
    """at most this many steps, 1 to 1000; a page ends earlier where its steps are long"""
    cursor: str
    """next_cursor of the page before, with the same other parameters"""


class AllStatisticsOfNetworkQuery(TypedDict, total=False):
    interval: Literal['10_minutes', 'hour', '3_hours', 'day', 'month', 'year', 'hour_of_day', 'weekday', 'hour_of_week']
    """the steps, in local time of `timezone`; `10_minutes` are made of readings, so they are 400 where only the archive has those"""
    timezone: str
    """a name of the IANA time zones: a time without an offset is one of the zone, and days begin at its midnight"""
    start_time: Time
    """inclusive"""
    end_time: Time
    """exclusive, and later than start_time"""
    measurements: str
    """names between commas; the basic five unless given"""
    numbers: str
    """names between commas: of each quantity and of `aqi` only these beside `n`; all unless given"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""
    quality: Literal['good', 'suspect', 'all']
    """good: only readings of that level; suspect: those and suspect ones; all: every one, also those that failed. The others are counted in `left_out`. Hours and days are written of the usual ones, so with another quality, and with corrections, everything is computed from readings: pages are shorter, and a step of more than 1,000,000 readings is refused"""
    corrections: str
    """adds corrected values by these models, between commas; /v1/corrections has them"""
    bbox: str
    """west,south,east,north in degrees; an east above 180 spans the antimeridian; 400 if it misses the network and would not with latitude and longitude swapped"""


class StatisticsOfNetworkQuery(AllStatisticsOfNetworkQuery, total=False):
    limit: int
    """at most this many steps, 1 to 1000; a page ends earlier where its steps are long"""
    cursor: str
    """next_cursor of the page before, with the same other parameters"""


class ReportOfSensorQuery(TypedDict, total=False):
    year: Required[int]
    """of local days"""
    timezone: str
    """a name of the IANA time zones: a time without an offset is one of the zone, and days begin at its midnight"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""
    quality: Literal['good', 'suspect', 'all']
    """good: only readings of that level; suspect: those and suspect ones; all: every one, also those that failed. The others are counted in `left_out`. Hours and days are written of the usual ones, so with another quality, and with corrections, everything is computed from readings: pages are shorter, and a step of more than 1,000,000 readings is refused"""


class ReportOfAreaQuery(TypedDict, total=False):
    year: Required[int]
    """of local days"""
    timezone: str
    """a name of the IANA time zones: a time without an offset is one of the zone, and days begin at its midnight"""
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""
    quality: Literal['good', 'suspect', 'all']
    """good: only readings of that level; suspect: those and suspect ones; all: every one, also those that failed. The others are counted in `left_out`. Hours and days are written of the usual ones, so with another quality, and with corrections, everything is computed from readings: pages are shorter, and a step of more than 1,000,000 readings is refused"""


class AqiScaleQuery(TypedDict, total=False):
    index: Literal['us', 'eu', 'uk', 'naqi_pm']
    """the index of air quality that `aqi` and its categories are of: us, US EPA AQI; eu, European Air Quality Index; uk, UK Daily Air Quality Index; naqi_pm, India NAQI, sub-index of particulate matter"""


class CreateWebhookQuery(TypedDict, total=False):
    idempotency_key: str
    """names the request, so that it can be repeated safely"""


class DeliveriesQuery(TypedDict, total=False):
    state: Literal['tried', 'pending', 'dead']
    """pending and dead accept only limit: deliveries that wait, soonest first, and those that were given up"""
    event: Literal['aqi.high', 'aqi.critical', 'sensor.offline', 'sensor.online', 'reading.new', 'reading.anchored', 'sensor.quality']
    """only these"""
    outcome: Literal['delivered', 'retry', 'dead', 'disabled', 'cancelled']
    """only these"""
    trigger: Literal['event', 'replay', 'recover', 'test']
    """only these"""
    delivery: str
    """only those of this id or key"""
    start_time: Time
    """inclusive"""
    end_time: Time
    """exclusive, and later than start_time"""


class ListDeliveriesQuery(DeliveriesQuery, total=False):
    limit: int
    """at most this many, 1 to 1000; 50 unless given"""
    cursor: str
    """next_cursor of the page before"""



class Operations(Caller):
    """Every operation of /v1."""

    def root(self) -> Start:
        """Where to go from here

        Addresses of this document and its page."""
        return self._do(Call('GET', '/', ()))

    def list_sensors(self, **query: Unpack[ListSensorsQuery]) -> SensorsPage | PickedSensorsPage:
        """Sensors by id, with their status

        Sensors that are in use. Several filters must all fit. With include=latest each has its latest reading, in JSON, CSV, NDJSON or GeoJSON; `fields`, `ids`, `modified_since`, `format`, `quality` and `corrections` need it."""
        return self._do(Call('GET', '/v1/sensors', (), query))

    def sensors(self, **query: Unpack[SensorsQuery]) -> Pages[Sensor]:
        """All pages of `list_sensors`, one item after the other."""
        return Pages(self, Call('GET', '/v1/sensors', (), query), 'sensors')

    def show_sensor(self, sensor_id: str, **query: Unpack[ShowSensorQuery]) -> SensorPage:
        """One sensor: its device, its owner, and where it was when

        Also one that was retired."""
        return self._do(Call('GET', '/v1/sensors/{}', (sensor_id,), query))

    def sensor_status(self, sensor_id: str, **query: Unpack[SensorStatusQuery]) -> SensorStatus:
        """One sensor as it is now

        Also one that was retired; its `sensor_status` is offline."""
        return self._do(Call('GET', '/v1/sensors/{}/status', (sensor_id,), query))

    def list_readings(self, **query: Unpack[ListReadingsQuery]) -> ReadingsPage | FlatReadingsPage | NestedReadingsPage:
        """Readings, newest first or oldest first

        Without `shape` a reading has everything that both shapes have. `format` wins over Accept. CSV has all columns and takes no `shape`."""
        return self._do(Call('GET', '/v1/readings', (), query))

    def readings(self, **query: Unpack[ReadingsQuery]) -> Pages[Reading]:
        """All pages of `list_readings`, one item after the other."""
        return Pages(self, Call('GET', '/v1/readings', (), query), 'readings')

    def list_changes(self, **query: Unpack[ListChangesQuery]) -> ChangesPage | FlatChangesPage | NestedChangesPage:
        """What was accepted since a cursor, in the order of acceptance, late readings included

        Each reading is on one page, once. Send next_cursor back as `after`; it is there on an empty page too, and is also an id for /v1/stream. An empty page stays the same until something is accepted: with its ETag it is 304, which does not count."""
        return self._do(Call('GET', '/v1/changes', (), query))

    def verify_reading(self, sensor_id: str, **query: Unpack[VerifyReadingQuery]) -> Verification:
        """Whether a reading is what was anchored on the blockchain

        Looked up and recomputed for this request."""
        return self._do(Call('GET', '/v1/readings/{}/verify', (sensor_id,), query))

    def proof_of_reading(self, sensor_id: str, **query: Unpack[ProofOfReadingQuery]) -> ProofBundle:
        """The proof of a reading as one file that anyone can check offline

        A bundle; docs/proofs.md says how to check it."""
        return self._do(Call('GET', '/v1/readings/{}/proof', (sensor_id,), query))

    def open_proof(self, sensor_id: str, timestamp: str, **query: Unpack[OpenProofQuery]) -> ProofBundle:
        """The same without a key; for people a page that checks it in their browser

        With .airproof.json at its end: the file to keep."""
        return self._do(Call('GET', '/proof/{}/{}', (sensor_id, timestamp,), query))

    def network(self) -> Network:
        """Who this network is: its chain, its contracts, its versions

        Kept as a file, it is what verifiers and the audit take with --network."""
        return self._do(Call('GET', '/v1/network', ()))

    def well_known_network(self) -> Network:
        """Who this network is: its chain, its contracts, its versions

        The same as /v1/network."""
        return self._do(Call('GET', '/.well-known/airproof.json', ()))

    def sensor_keys(self, sensor_id: str) -> SensorKeys:
        """The public keys with which a sensor signs, and since when each is known

        Keep it: the key in the proof of a signed reading is that of the sensor if it is in this list for the time of the reading."""
        return self._do(Call('GET', '/v1/network/keys/{}', (sensor_id,)))

    def list_areas(self) -> Areas:
        """The areas of the network

        And the network as a whole."""
        return self._do(Call('GET', '/v1/areas', ()))

    def show_area(self, area_name: str, **query: Unpack[ShowAreaQuery]) -> AreaStatistics:
        """Statistics of an area, of the last 24 hours unless a period is given

        A period of at most 1,830 days, of at most 93 with interval=hour."""
        return self._do(Call('GET', '/v1/areas/{}', (area_name,), query))

    def statistics_of_sensor(self, sensor_id: str, **query: Unpack[StatisticsOfSensorQuery]) -> StatisticsPage:
        """Statistics of a sensor by 10 minutes, hour, 3 hours, day, month, year, hour of day, weekday or hour of week

        n, mean, standard deviation, quantiles and extremes of each step, with how many readings there should be. `basis` says what the quantiles are of."""
        return self._do(Call('GET', '/v1/sensors/{}/statistics', (sensor_id,), query))

    def all_statistics_of_sensor(self, sensor_id: str, **query: Unpack[AllStatisticsOfSensorQuery]) -> Pages[StatisticsStep]:
        """All pages of `statistics_of_sensor`, one item after the other."""
        return Pages(self, Call('GET', '/v1/sensors/{}/statistics', (sensor_id,), query), 'statistics')

    def statistics_of_area(self, area_name: str, **query: Unpack[StatisticsOfAreaQuery]) -> StatisticsPage:
        """Statistics of an area by 10 minutes, hour, 3 hours, day, month, year, hour of day, weekday or hour of week

        n, mean, standard deviation, quantiles and extremes of each step, with how many readings there should be. `basis` says what the quantiles are of."""
        return self._do(Call('GET', '/v1/areas/{}/statistics', (area_name,), query))

    def all_statistics_of_area(self, area_name: str, **query: Unpack[AllStatisticsOfAreaQuery]) -> Pages[StatisticsStep]:
        """All pages of `statistics_of_area`, one item after the other."""
        return Pages(self, Call('GET', '/v1/areas/{}/statistics', (area_name,), query), 'statistics')

    def statistics_of_network(self, **query: Unpack[StatisticsOfNetworkQuery]) -> StatisticsPage:
        """Statistics of the network, or of the sensors in a box by 10 minutes, hour, 3 hours, day, month, year, hour of day, weekday or hour of week

        n, mean, standard deviation, quantiles and extremes of each step, with how many readings there should be. `basis` says what the quantiles are of."""
        return self._do(Call('GET', '/v1/statistics', (), query))

    def all_statistics_of_network(self, **query: Unpack[AllStatisticsOfNetworkQuery]) -> Pages[StatisticsStep]:
        """All pages of `statistics_of_network`, one item after the other."""
        return Pages(self, Call('GET', '/v1/statistics', (), query), 'statistics')

    def report_of_sensor(self, sensor_id: str, **query: Unpack[ReportOfSensorQuery]) -> Report:
        """A year of a sensor against WHO’s guidelines of 2021

        Days over each level, the annual mean, completeness, and days per category of an index. A day counts if 75 % of its readings are there."""
        return self._do(Call('GET', '/v1/sensors/{}/report', (sensor_id,), query))

    def report_of_area(self, area_name: str, **query: Unpack[ReportOfAreaQuery]) -> Report:
        """A year of an area against WHO’s guidelines of 2021

        Days over each level, the annual mean, completeness, and days per category of an index. A day counts if 75 % of its readings are there."""
        return self._do(Call('GET', '/v1/areas/{}/report', (area_name,), query))

    def list_corrections(self) -> Corrections:
        """The models by which readings can be corrected

        With their coefficients, ranges, sources and hashes."""
        return self._do(Call('GET', '/v1/corrections', ()))

    def aqi_scale(self, **query: Unpack[AqiScaleQuery]) -> AqiScale:
        """The table that an index is made with

        With its colours."""
        return self._do(Call('GET', '/v1/aqi/scale', (), query))

    def show_usage(self) -> Usage:
        """What your account has used of its quota

        Not charged to the day, only to the minute."""
        return self._do(Call('GET', '/v1/usage', ()))

    def make_stream_token(self) -> StreamToken:
        """A token for a page, whose EventSource cannot send a key

        Opens streams for 60 seconds and nothing else, and is revoked with its key. Not charged to the day, only to the minute."""
        return self._do(Call('POST', '/v1/stream/token', ()))

    def list_webhooks(self) -> Webhooks:
        """Your webhooks, oldest first

        Also for an account that is not premium any more."""
        return self._do(Call('GET', '/v1/webhooks', ()))

    def create_webhook(self, body: NewWebhook, **query: Unpack[CreateWebhookQuery]) -> CreatedWebhook:
        """Create a webhook

        The same Idempotency-Key with the same body creates only one webhook within a day."""
        return self._do(Call('POST', '/v1/webhooks', (), query, headers=('idempotency_key',), body=body))

    def show_webhook(self, webhook_id: str) -> OneWebhook:
        """One webhook

        Without its secret."""
        return self._do(Call('GET', '/v1/webhooks/{}', (webhook_id,)))

    def change_webhook(self, webhook_id: str, body: WebhookPatch) -> OneWebhook:
        """Change the given fields, and leave the others

        As JSON Merge Patch (RFC 7396): null removes a filter or the description. May also be sent as application/merge-patch+json."""
        return self._do(Call('PATCH', '/v1/webhooks/{}', (webhook_id,), body=body))

    def delete_webhook(self, webhook_id: str) -> DeletedWebhook:
        """Delete a webhook and its waiting deliveries

        Its id is not used again."""
        return self._do(Call('DELETE', '/v1/webhooks/{}', (webhook_id,)))

    def pause_webhook(self, webhook_id: str) -> OneWebhook:
        """Queue events without sending them

        Until it is resumed."""
        return self._do(Call('POST', '/v1/webhooks/{}/pause', (webhook_id,)))

    def resume_webhook(self, webhook_id: str) -> OneWebhook:
        """Send again, after a pause or after it was disabled

        Not if the operator has disabled it."""
        return self._do(Call('POST', '/v1/webhooks/{}/resume', (webhook_id,)))

    def rotate_secret(self, webhook_id: str, body: Rotation | None = None) -> WebhookWithSecret:
        """A new secret

        The old secret also signs for overlap_seconds (86400 unless given)."""
        return self._do(Call('POST', '/v1/webhooks/{}/rotate', (webhook_id,), body=body))

    def test_webhook(self, webhook_id: str, body: TestRequest | None = None) -> TestedWebhook:
        """Send an example now

        Of the first kind of its events, unless `event` names another."""
        return self._do(Call('POST', '/v1/webhooks/{}/test', (webhook_id,), body=body))

    def list_deliveries(self, webhook_id: str, **query: Unpack[ListDeliveriesQuery]) -> DeliveriesPage:
        """Attempts, newest first; or deliveries that wait; or those that were given up

        A row is an attempt; those of the last 30 days are kept, at most 5,000. A page may be short: continue until next_cursor is null."""
        return self._do(Call('GET', '/v1/webhooks/{}/deliveries', (webhook_id,), query))

    def deliveries(self, webhook_id: str, **query: Unpack[DeliveriesQuery]) -> Pages[TriedDelivery | WaitingDelivery]:
        """All pages of `list_deliveries`, one item after the other."""
        return Pages(self, Call('GET', '/v1/webhooks/{}/deliveries', (webhook_id,), query), 'deliveries')

    def show_delivery(self, webhook_id: str, delivery_id: str) -> OneDelivery:
        """A delivery with its attempts, newest first

        With requests and responses."""
        return self._do(Call('GET', '/v1/webhooks/{}/deliveries/{}', (webhook_id, delivery_id,)))

    def replay_delivery(self, webhook_id: str, delivery_id: str) -> QueuedDelivery:
        """Send a delivery again, with the same id and bytes

        Pending, given up or delivered."""
        return self._do(Call('POST', '/v1/webhooks/{}/deliveries/{}/replay', (webhook_id, delivery_id,)))

    def recover_webhook(self, webhook_id: str, body: Recovery) -> QueuedRecovery:
        """Send everything since a time again, with the same ids

        As far back as events are kept."""
        return self._do(Call('POST', '/v1/webhooks/{}/recover', (webhook_id,), body=body))

    def open_api(self) -> dict[str, object]:
        """This document

        OpenAPI 3.1."""
        return self._do(Call('GET', '/v1/openapi.json', ()))


class AsyncOperations(AsyncCaller):
    """Every operation of /v1, to be awaited."""

    async def root(self) -> Start:
        """Where to go from here

        Addresses of this document and its page."""
        return await self._do(Call('GET', '/', ()))

    async def list_sensors(self, **query: Unpack[ListSensorsQuery]) -> SensorsPage | PickedSensorsPage:
        """Sensors by id, with their status

        Sensors that are in use. Several filters must all fit. With include=latest each has its latest reading, in JSON, CSV, NDJSON or GeoJSON; `fields`, `ids`, `modified_since`, `format`, `quality` and `corrections` need it."""
        return await self._do(Call('GET', '/v1/sensors', (), query))

    def sensors(self, **query: Unpack[SensorsQuery]) -> AsyncPages[Sensor]:
        """All pages of `list_sensors`, one item after the other."""
        return AsyncPages(self, Call('GET', '/v1/sensors', (), query), 'sensors')

    async def show_sensor(self, sensor_id: str, **query: Unpack[ShowSensorQuery]) -> SensorPage:
        """One sensor: its device, its owner, and where it was when

        Also one that was retired."""
        return await self._do(Call('GET', '/v1/sensors/{}', (sensor_id,), query))

    async def sensor_status(self, sensor_id: str, **query: Unpack[SensorStatusQuery]) -> SensorStatus:
        """One sensor as it is now

        Also one that was retired; its `sensor_status` is offline."""
        return await self._do(Call('GET', '/v1/sensors/{}/status', (sensor_id,), query))

    async def list_readings(self, **query: Unpack[ListReadingsQuery]) -> ReadingsPage | FlatReadingsPage | NestedReadingsPage:
        """Readings, newest first or oldest first

        Without `shape` a reading has everything that both shapes have. `format` wins over Accept. CSV has all columns and takes no `shape`."""
        return await self._do(Call('GET', '/v1/readings', (), query))

    def readings(self, **query: Unpack[ReadingsQuery]) -> AsyncPages[Reading]:
        """All pages of `list_readings`, one item after the other."""
        return AsyncPages(self, Call('GET', '/v1/readings', (), query), 'readings')

    async def list_changes(self, **query: Unpack[ListChangesQuery]) -> ChangesPage | FlatChangesPage | NestedChangesPage:
        """What was accepted since a cursor, in the order of acceptance, late readings included

        Each reading is on one page, once. Send next_cursor back as `after`; it is there on an empty page too, and is also an id for /v1/stream. An empty page stays the same until something is accepted: with its ETag it is 304, which does not count."""
        return await self._do(Call('GET', '/v1/changes', (), query))

    async def verify_reading(self, sensor_id: str, **query: Unpack[VerifyReadingQuery]) -> Verification:
        """Whether a reading is what was anchored on the blockchain

        Looked up and recomputed for this request."""
        return await self._do(Call('GET', '/v1/readings/{}/verify', (sensor_id,), query))

    async def proof_of_reading(self, sensor_id: str, **query: Unpack[ProofOfReadingQuery]) -> ProofBundle:
        """The proof of a reading as one file that anyone can check offline

        A bundle; docs/proofs.md says how to check it."""
        return await self._do(Call('GET', '/v1/readings/{}/proof', (sensor_id,), query))

    async def open_proof(self, sensor_id: str, timestamp: str, **query: Unpack[OpenProofQuery]) -> ProofBundle:
        """The same without a key; for people a page that checks it in their browser

        With .airproof.json at its end: the file to keep."""
        return await self._do(Call('GET', '/proof/{}/{}', (sensor_id, timestamp,), query))

    async def network(self) -> Network:
        """Who this network is: its chain, its contracts, its versions

        Kept as a file, it is what verifiers and the audit take with --network."""
        return await self._do(Call('GET', '/v1/network', ()))

    async def well_known_network(self) -> Network:
        """Who this network is: its chain, its contracts, its versions

        The same as /v1/network."""
        return await self._do(Call('GET', '/.well-known/airproof.json', ()))

    async def sensor_keys(self, sensor_id: str) -> SensorKeys:
        """The public keys with which a sensor signs, and since when each is known

        Keep it: the key in the proof of a signed reading is that of the sensor if it is in this list for the time of the reading."""
        return await self._do(Call('GET', '/v1/network/keys/{}', (sensor_id,)))

    async def list_areas(self) -> Areas:
        """The areas of the network

        And the network as a whole."""
        return await self._do(Call('GET', '/v1/areas', ()))

    async def show_area(self, area_name: str, **query: Unpack[ShowAreaQuery]) -> AreaStatistics:
        """Statistics of an area, of the last 24 hours unless a period is given

        A period of at most 1,830 days, of at most 93 with interval=hour."""
        return await self._do(Call('GET', '/v1/areas/{}', (area_name,), query))

    async def statistics_of_sensor(self, sensor_id: str, **query: Unpack[StatisticsOfSensorQuery]) -> StatisticsPage:
        """Statistics of a sensor by 10 minutes, hour, 3 hours, day, month, year, hour of day, weekday or hour of week

        n, mean, standard deviation, quantiles and extremes of each step, with how many readings there should be. `basis` says what the quantiles are of."""
        return await self._do(Call('GET', '/v1/sensors/{}/statistics', (sensor_id,), query))

    def all_statistics_of_sensor(self, sensor_id: str, **query: Unpack[AllStatisticsOfSensorQuery]) -> AsyncPages[StatisticsStep]:
        """All pages of `statistics_of_sensor`, one item after the other."""
        return AsyncPages(self, Call('GET', '/v1/sensors/{}/statistics', (sensor_id,), query), 'statistics')

    async def statistics_of_area(self, area_name: str, **query: Unpack[StatisticsOfAreaQuery]) -> StatisticsPage:
        """Statistics of an area by 10 minutes, hour, 3 hours, day, month, year, hour of day, weekday or hour of week

        n, mean, standard deviation, quantiles and extremes of each step, with how many readings there should be. `basis` says what the quantiles are of."""
        return await self._do(Call('GET', '/v1/areas/{}/statistics', (area_name,), query))

    def all_statistics_of_area(self, area_name: str, **query: Unpack[AllStatisticsOfAreaQuery]) -> AsyncPages[StatisticsStep]:
        """All pages of `statistics_of_area`, one item after the other."""
        return AsyncPages(self, Call('GET', '/v1/areas/{}/statistics', (area_name,), query), 'statistics')

    async def statistics_of_network(self, **query: Unpack[StatisticsOfNetworkQuery]) -> StatisticsPage:
        """Statistics of the network, or of the sensors in a box by 10 minutes, hour, 3 hours, day, month, year, hour of day, weekday or hour of week

        n, mean, standard deviation, quantiles and extremes of each step, with how many readings there should be. `basis` says what the quantiles are of."""
        return await self._do(Call('GET', '/v1/statistics', (), query))

    def all_statistics_of_network(self, **query: Unpack[AllStatisticsOfNetworkQuery]) -> AsyncPages[StatisticsStep]:
        """All pages of `statistics_of_network`, one item after the other."""
        return AsyncPages(self, Call('GET', '/v1/statistics', (), query), 'statistics')

    async def report_of_sensor(self, sensor_id: str, **query: Unpack[ReportOfSensorQuery]) -> Report:
        """A year of a sensor against WHO’s guidelines of 2021

        Days over each level, the annual mean, completeness, and days per category of an index. A day counts if 75 % of its readings are there."""
        return await self._do(Call('GET', '/v1/sensors/{}/report', (sensor_id,), query))

    async def report_of_area(self, area_name: str, **query: Unpack[ReportOfAreaQuery]) -> Report:
        """A year of an area against WHO’s guidelines of 2021

        Days over each level, the annual mean, completeness, and days per category of an index. A day counts if 75 % of its readings are there."""
        return await self._do(Call('GET', '/v1/areas/{}/report', (area_name,), query))

    async def list_corrections(self) -> Corrections:
        """The models by which readings can be corrected

        With their coefficients, ranges, sources and hashes."""
        return await self._do(Call('GET', '/v1/corrections', ()))

    async def aqi_scale(self, **query: Unpack[AqiScaleQuery]) -> AqiScale:
        """The table that an index is made with

        With its colours."""
        return await self._do(Call('GET', '/v1/aqi/scale', (), query))

    async def show_usage(self) -> Usage:
        """What your account has used of its quota

        Not charged to the day, only to the minute."""
        return await self._do(Call('GET', '/v1/usage', ()))

    async def make_stream_token(self) -> StreamToken:
        """A token for a page, whose EventSource cannot send a key

        Opens streams for 60 seconds and nothing else, and is revoked with its key. Not charged to the day, only to the minute."""
        return await self._do(Call('POST', '/v1/stream/token', ()))

    async def list_webhooks(self) -> Webhooks:
        """Your webhooks, oldest first

        Also for an account that is not premium any more."""
        return await self._do(Call('GET', '/v1/webhooks', ()))

    async def create_webhook(self, body: NewWebhook, **query: Unpack[CreateWebhookQuery]) -> CreatedWebhook:
        """Create a webhook

        The same Idempotency-Key with the same body creates only one webhook within a day."""
        return await self._do(Call('POST', '/v1/webhooks', (), query, headers=('idempotency_key',), body=body))

    async def show_webhook(self, webhook_id: str) -> OneWebhook:
        """One webhook

        Without its secret."""
        return await self._do(Call('GET', '/v1/webhooks/{}', (webhook_id,)))

    async def change_webhook(self, webhook_id: str, body: WebhookPatch) -> OneWebhook:
        """Change the given fields, and leave the others

        As JSON Merge Patch (RFC 7396): null removes a filter or the description. May also be sent as application/merge-patch+json."""
        return await self._do(Call('PATCH', '/v1/webhooks/{}', (webhook_id,), body=body))

    async def delete_webhook(self, webhook_id: str) -> DeletedWebhook:
        """Delete a webhook and its waiting deliveries

        Its id is not used again."""
        return await self._do(Call('DELETE', '/v1/webhooks/{}', (webhook_id,)))

    async def pause_webhook(self, webhook_id: str) -> OneWebhook:
        """Queue events without sending them

        Until it is resumed."""
        return await self._do(Call('POST', '/v1/webhooks/{}/pause', (webhook_id,)))

    async def resume_webhook(self, webhook_id: str) -> OneWebhook:
        """Send again, after a pause or after it was disabled

        Not if the operator has disabled it."""
        return await self._do(Call('POST', '/v1/webhooks/{}/resume', (webhook_id,)))

    async def rotate_secret(self, webhook_id: str, body: Rotation | None = None) -> WebhookWithSecret:
        """A new secret

        The old secret also signs for overlap_seconds (86400 unless given)."""
        return await self._do(Call('POST', '/v1/webhooks/{}/rotate', (webhook_id,), body=body))

    async def test_webhook(self, webhook_id: str, body: TestRequest | None = None) -> TestedWebhook:
        """Send an example now

        Of the first kind of its events, unless `event` names another."""
        return await self._do(Call('POST', '/v1/webhooks/{}/test', (webhook_id,), body=body))

    async def list_deliveries(self, webhook_id: str, **query: Unpack[ListDeliveriesQuery]) -> DeliveriesPage:
        """Attempts, newest first; or deliveries that wait; or those that were given up

        A row is an attempt; those of the last 30 days are kept, at most 5,000. A page may be short: continue until next_cursor is null."""
        return await self._do(Call('GET', '/v1/webhooks/{}/deliveries', (webhook_id,), query))

    def deliveries(self, webhook_id: str, **query: Unpack[DeliveriesQuery]) -> AsyncPages[TriedDelivery | WaitingDelivery]:
        """All pages of `list_deliveries`, one item after the other."""
        return AsyncPages(self, Call('GET', '/v1/webhooks/{}/deliveries', (webhook_id,), query), 'deliveries')

    async def show_delivery(self, webhook_id: str, delivery_id: str) -> OneDelivery:
        """A delivery with its attempts, newest first

        With requests and responses."""
        return await self._do(Call('GET', '/v1/webhooks/{}/deliveries/{}', (webhook_id, delivery_id,)))

    async def replay_delivery(self, webhook_id: str, delivery_id: str) -> QueuedDelivery:
        """Send a delivery again, with the same id and bytes

        Pending, given up or delivered."""
        return await self._do(Call('POST', '/v1/webhooks/{}/deliveries/{}/replay', (webhook_id, delivery_id,)))

    async def recover_webhook(self, webhook_id: str, body: Recovery) -> QueuedRecovery:
        """Send everything since a time again, with the same ids

        As far back as events are kept."""
        return await self._do(Call('POST', '/v1/webhooks/{}/recover', (webhook_id,), body=body))

    async def open_api(self) -> dict[str, object]:
        """This document

        OpenAPI 3.1."""
        return await self._do(Call('GET', '/v1/openapi.json', ()))
