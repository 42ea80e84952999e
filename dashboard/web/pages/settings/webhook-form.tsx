import { useState } from 'preact/hooks'
import { defaultAqiThreshold } from '../../../../core/air/thresholds.ts'
import type { EventKind } from '../../../../core/delivery/delivery.ts'
import { eventKindRows } from '../../../../core/delivery/event-kinds.ts'
import { Failed } from '../../parts/states.tsx'
import { Field } from './field.tsx'
import { useAction } from './use-action.ts'
import { useFirstWrong } from './use-first-wrong.ts'
import type { Wanted, Webhook } from './webhook-types.ts'
import { wrongFieldsOf } from './wrong-fields.ts'

// Object.keys is typed string[]; the cast only names the strings
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const eventKinds = Object.keys(eventKindRows) as EventKind[]

type FormProps = {
  /** The webhook to change; undefined: a new one. */
  readonly webhook?: Webhook
  readonly label: string
  /** @throws AskError whose details name the fields that are wrong */
  readonly save: (wanted: Wanted) => Promise<void>
}

/** The settings of a webhook. Empty filters of an existing one are removed. */
export function WebhookForm({ webhook, label, save }: FormProps) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [events, setEvents] = useState<readonly EventKind[]>(
    webhook?.events ?? ['aqi.high', 'sensor.offline'],
  )
  const [sensor, setSensor] = useState(webhook?.filters.sensor_id ?? '')
  const [area, setArea] = useState(webhook?.filters.area ?? '')
  const [threshold, setThreshold] = useState(webhook?.filters.aqi_threshold?.toString() ?? '')
  const action = useAction()
  const wrong = wrongFieldsOf(action.error)
  const form = useFirstWrong(wrong)
  const shown = ['url', 'description', 'events', 'filters.sensor_id', 'filters.area']
  const others = [...wrong].filter(([name]) => ![...shown, 'filters.aqi_threshold'].includes(name))

  const wanted = (): Wanted => {
    const filters = {
      sensor_id: sensor.trim() || null,
      area: area.trim() || null,
      // a text that is not a number is sent as it is, so that the answer names the fault
      aqi_threshold: threshold.trim() === '' ? null : asNumber(threshold),
    }
    if (webhook !== undefined) return { url, description: description || null, events, filters }
    const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== null))
    return { url, events, filters: given, ...(description === '' ? {} : { description }) }
  }
  return (
    <form
      ref={form}
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(() => save(wanted()))
      }}
    >
      <Field
        label="Address"
        hint="https, on port 443 or 8443, by a public name"
        error={wrong.get('url')}
        value={url}
        onValue={setUrl}
        input={{
          type: 'url',
          required: true,
          placeholder: 'https://example.org/air',
          autoComplete: 'off',
        }}
      />
      <Field
        label="Description (optional)"
        error={wrong.get('description')}
        value={description}
        onValue={setDescription}
        input={{ maxLength: 200, autoComplete: 'off' }}
      />
      <Events value={events} onValue={setEvents} error={wrong.get('events')} />
      <fieldset>
        <legend>Only about (optional)</legend>
        <div class="form">
          <Field
            label="Sensor"
            hint="Its id, such as NGR-LOS-IKJ-017"
            error={wrong.get('filters.sensor_id')}
            value={sensor}
            onValue={setSensor}
            input={{ autoComplete: 'off', maxLength: 64 }}
          />
          <Field
            label="Area"
            hint="Its name; where a sensor is given too, both must fit"
            error={wrong.get('filters.area')}
            value={area}
            onValue={setArea}
            input={{ autoComplete: 'off', maxLength: 80 }}
          />
          <Field
            label="AQI threshold"
            hint={`For aqi.high: 0 to below 500; ${defaultAqiThreshold} unless you say otherwise`}
            error={wrong.get('filters.aqi_threshold')}
            value={threshold}
            onValue={setThreshold}
            input={{ inputMode: 'decimal', autoComplete: 'off' }}
          />
        </div>
      </fieldset>
      {action.error !== undefined && wrong.size === 0 && <Failed error={action.error} />}
      {others.map(([name, words]) => (
        <p key={name} class="error">
          {name}: {words}
        </p>
      ))}
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy}>
          {label}
        </button>
      </div>
    </form>
  )
}

const asNumber = (text: string): number | string => {
  const value = Number(text)
  return Number.isNaN(value) ? text : value
}

type EventsProps = {
  readonly value: readonly EventKind[]
  readonly onValue: (events: readonly EventKind[]) => void
  readonly error: string | undefined
}

const Events = ({ value, onValue, error }: EventsProps) => (
  <fieldset aria-describedby={error === undefined ? undefined : 'events-error'}>
    <legend>Tell me when</legend>
    <div class="checks">
      {eventKinds.map((kind) => (
        <label key={kind} class="check">
          <input
            type="checkbox"
            checked={value.includes(kind)}
            onChange={({ currentTarget }) =>
              onValue(
                eventKinds.filter((known) =>
                  known === kind ? currentTarget.checked : value.includes(known),
                ),
              )
            }
          />
          <span>
            <code>{kind}</code>
            <br />
            <span class="hint">{eventKindRows[kind].words}</span>
          </span>
        </label>
      ))}
    </div>
    {error !== undefined && (
      <p id="events-error" class="error">
        {error}
      </p>
    )}
  </fieldset>
)
