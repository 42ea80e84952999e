"""Uses the package `airproof`, and prints what it received, as JSON."""
import asyncio
import hashlib
import json
import sys

import pandas
from airproof import ApiError, AsyncClient, Client, Refused, network_file, verify_bundle

url, key, sensor, proven, start, month, end = sys.argv[1:8]
NAMES = ['pm25', 'pm10', 'co2', 'temperature', 'humidity']
results: dict[str, object] = {}


def digest(rows: pandas.DataFrame) -> list[object]:
    times = rows['timestamp'].astype('datetime64[ms, UTC]').astype('int64')
    values = [(rows[name] * 100).round() for name in NAMES]
    lines = [','.join(['' if pandas.isna(v) else str(int(v)) for v in row])
             for row in zip(times, *values)]
    return [len(lines), hashlib.sha256('\n'.join(lines).encode()).hexdigest()]


with Client(url, key) as air:
    year = air.readings(sensor_id=sensor, start_time=start, end_time=end, order='asc').to_pandas()
    results['year'] = digest(year)
    results['columns'] = [str(year[name].dtype) for name in ('timestamp', 'pm25', 'quality')]
    results['sensors'] = [one['id'] for one in air.sensors(include='latest')]
    results['area'] = air.show_area('Ikeja')['area']['name']
    try:
        air.show_area('Nowhere')
    except ApiError as error:
        results['refused'] = [error.status, error.code, error.request_id is not None]
    proof = air.verify(sensor, proven)
    results['verified'] = [proof.reading['sensor_id'], proof.is_demonstration, len(proof.checks)]
    # the file may be kept, and checked without the server
    again = verify_bundle(proof.bundle, chain_id=31337)
    results['kept'] = again.reading == proof.reading
    try:
        verify_bundle(proof.bundle.replace(b'"pm25":', b'"pm25": ', 1))
    except Refused as refused:
        results['changed'] = refused.check
    pages = list(air.changes('start'))
    results['changes'] = [len(page['readings']) for page in pages]
    results['current'] = [len(page['readings']) for page in air.changes(pages[-1]['next_cursor'])]
    seen: list[object] = []
    print('next', file=sys.stderr, flush=True)
    for event in air.stream(sensor_id=sensor):
        seen.append([event.event, event.data['pm25']])
        if len(seen) == 2:
            break
        print('next', file=sys.stderr, flush=True)
    results['stream'] = seen


async def later() -> None:
    async with AsyncClient(url, key) as air:
        rows = await air.readings(
            sensor_id=sensor, start_time=start, end_time=month, order='asc').to_pandas()
        results['month'] = digest(rows)
        results['async_changes'] = [
            len(page['readings']) async for page in air.changes(pages[-1]['next_cursor'])]
        seen: list[object] = []
        print('next', file=sys.stderr, flush=True)
        async for event in air.stream(sensor_id=sensor):
            seen.append([event.event, event.data['pm25']])
            if len(seen) == 2:
                break
            print('next', file=sys.stderr, flush=True)
        results['async_stream'] = seen


asyncio.run(later())
print(json.dumps(results))
