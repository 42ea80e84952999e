import { useState } from 'preact/hooks'
import { defaultAqiThreshold } from '../../../../../core/air/thresholds.ts'
import { type EventKind, eventKinds } from '../../../../../core/delivery/delivery.ts'
import { accountTexts } from '../../../account-texts.ts'
import { Field } from '../../../forms/field.tsx'
import { useAction } from '../../../forms/use-action.ts'
import { useFirstWrong } from '../../../forms/use-first-wrong.ts'
import { wrongFieldsOf } from '../../../forms/wrong-fields.ts'
import { exampleSensor } from '../../../parts/example-sensor.ts'
import { Failed } from '../../../parts/states.tsx'
import { BackTest } from './back-test.tsx'
import { Picker, useAreaChoices, useSensorChoices } from './picker.tsx'
import type { Wanted, Webhook } from './webhook-types.ts'

const { form: words, address, kinds } = accountTexts.webhooks

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
  const areaChoices = useAreaChoices()
  const isKnown = areaChoices.some(({ value }) => value === area)
  const sensorChoices = useSensorChoices(isKnown ? area : '')
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
        label={address}
        hint={words.urlHint}
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
        label={words.description}
        error={wrong.get('description')}
        value={description}
        onValue={setDescription}
        input={{ maxLength: 200, autoComplete: 'off' }}
      />
      <Events value={events} onValue={setEvents} error={wrong.get('events')} />
      <fieldset>
        <legend>{words.filters}</legend>
        <div class="form">
          <Picker
            label={words.sensor}
            choices={sensorChoices}
            hint={words.sensorHint(exampleSensor.value.id)}
            error={wrong.get('filters.sensor_id')}
            value={sensor}
            onValue={setSensor}
            maxLength={64}
          />
          <Picker
            label={words.area}
            choices={areaChoices}
            hint={words.areaHint}
            error={wrong.get('filters.area')}
            value={area}
            onValue={setArea}
            maxLength={80}
          />
          <Field
            label={words.threshold}
            hint={words.thresholdHint(defaultAqiThreshold)}
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
      <BackTest wanted={wanted} />
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
    <legend>{words.trigger}</legend>
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
            <span class="hint">{kinds[kind]}</span>
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
