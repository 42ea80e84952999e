import { useState } from 'preact/hooks'
import { accountTexts } from '../../account-texts.ts'
import { getJson } from '../../data.ts'
import { Field } from '../../forms/field.tsx'
import { Select } from '../../forms/select.tsx'
import { config, me } from '../../me.ts'
import { Copy } from '../../parts/copy.tsx'
import { exampleSensor } from '../../parts/example-sensor.ts'
import { InLanguages } from '../../parts/in-languages.tsx'
import { languages, snippet } from '../../parts/snippet.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import '../settings/settings.css'
import { type About, type Call, calls, pathOf, streamSnippet } from './calls.ts'
import './developers.css'
import { EventCatalogue } from './event-catalogue.tsx'

const { developers: words } = accountTexts.settings

/** The way to a first answer of the API: the reference, a key, a request that runs as pasted. */
export const DevelopersPage = () => (
  <div class="stack settings developers">
    <h1>{words.title}</h1>
    <p class="muted">{words.intro}</p>
    <section class="card stack" aria-label={words.reference}>
      <div class="actions">
        <a class="button primary" href={`${config.value.api}/v1/docs`}>
          {words.reference}
        </a>
        <a class="button" href={`${config.value.api}/v1/openapi.json`}>
          {words.document}
        </a>
      </div>
      <p class="muted">{words.referenceHint}</p>
      <dl class="facts">
        <dt>{words.address}</dt>
        <dd class="row">
          <code>{config.value.api}/v1</code>
          <Copy text={`${config.value.api}/v1`} />
        </dd>
        <dt>{words.limits}</dt>
        <dd>{words.limitsWords}</dd>
      </dl>
    </section>
    <section class="card stack" aria-label={words.key}>
      <h2>{words.key}</h2>
      <p>{words.keyWords}</p>
      <KeyActions />
    </section>
    <FirstRequest />
    <section class="card stack" aria-label={words.next}>
      <h2>{words.next}</h2>
      <div class="actions">
        <a class="button" href="/settings/usage">
          {words.nextUsage}
        </a>
        <a class="button" href="/settings/webhooks">
          {words.nextWebhooks}
        </a>
      </div>
    </section>
    <EventCatalogue />
  </div>
)

const KeyActions = () => (
  <div class="actions">
    {me.value ? (
      <a class="button primary" href="/settings/keys">
        {words.manageKeys}
      </a>
    ) : (
      <>
        <a class="button primary" href="/signup">
          {words.signUp}
        </a>
        <a class="button" href="/login?next=%2Fdevelopers">
          {words.signIn}
        </a>
      </>
    )}
  </div>
)

type FirstSensor = {
  readonly sensors: readonly { readonly id: string; readonly area: string }[]
}

const noSensor = (): About => ({ sensor: exampleSensor.value.id, area: exampleSensor.value.area })

/** A sensor that exists, so that the examples answer with data. */
async function findAbout(signal: AbortSignal): Promise<About> {
  const { sensors } = await getJson<FirstSensor>('/data/v1/sensors?limit=1', { signal })
  const [first] = sensors
  return first === undefined ? noSensor() : { sensor: first.id, area: first.area }
}

function FirstRequest() {
  const about = useAnswer(findAbout, []).value ?? noSensor()
  const [call, setCall] = useState<Call>('latest')
  const [typed, setTyped] = useState('')
  // what a key is made of, so that a slip cannot break out of the quotes of a shell
  const key = /^[\w-]{1,100}$/.test(typed.trim()) ? typed.trim() : 'YOUR_API_KEY'
  const url = config.value.api + pathOf(call, about)
  return (
    <section class="card stack" aria-label={words.first}>
      <h2>{words.first}</h2>
      <div class="filters">
        <Select
          label={words.what}
          value={call}
          choices={calls.map((name) => [name, words.calls[name]] as const)}
          onValue={setCall}
        />
        <Field
          label={words.yourKey}
          hint={words.yourKeyHint}
          value={typed}
          onValue={setTyped}
          input={{ autoComplete: 'off', spellcheck: false, placeholder: 'aqk_…' }}
        />
      </div>
      <InLanguages
        languages={languages}
        textIn={(language) =>
          call === 'stream' ? streamSnippet(language, url, key) : snippet(language, url, key)
        }
        label={words.what}
      />
    </section>
  )
}
