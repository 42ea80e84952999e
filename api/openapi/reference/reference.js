// Swagger UI over the page that is there without a script, with the samples of each operation.
const languages = []

/** Shows `x-codeSamples` before the answers of an operation. */
function samplesPlugin({ React, Im }) {
  const element = React.createElement
  const Samples = ({ samples }) => {
    const [chosen, choose] = React.useState(languages[0] ?? samples[0].label)
    const shown = samples.find(({ label }) => label === chosen) ?? samples[0]
    const tabs = samples.map(({ label }) =>
      element(
        'button',
        {
          key: label,
          type: 'button',
          role: 'tab',
          'aria-selected': label === shown.label,
          // the next operation that is opened begins with it too
          onClick: () => choose((languages[0] = label)),
        },
        label,
      ),
    )
    return element(
      'div',
      { className: 'samples' },
      element('h4', null, 'In your program'),
      element('div', { role: 'tablist' }, tabs),
      element('pre', null, shown.source),
    )
  }
  return {
    wrapComponents: {
      responses: (Original, system) => (props) => {
        const { path, method } = props
        const found = system.specSelectors
          .specJson()
          .getIn(['paths', path, method, 'x-codeSamples'])
        const answers = element(Original, props)
        if (!Im.List.isList(found)) return answers
        return element(React.Fragment, null, element(Samples, { samples: found.toJS() }), answers)
      },
    },
  }
}

globalThis.SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  // no badge of another host
  validatorUrl: null,
  plugins: [samplesPlugin],
  onComplete: () => document.documentElement.classList.add('has-reference'),
})
