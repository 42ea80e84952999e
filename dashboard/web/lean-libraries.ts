/**
 * Leaflet without the parts that a canvas of circles never uses: tiles, SVG, markers of images,
 * popups, GeoJSON. Its classes are made by calls, and attached to each other by statements, so a
 * bundler keeps them all; with the calls marked as pure, and without those statements, it drops a
 * third.
 */
const leaveOut: readonly RegExp[] = [
  // what popups and tooltips add to the map and to layers
  /^(?:Map|Layer)\.include\(\{\s*(?:\/\/[^\n]*\s*)*(?:_initOverlay|openPopup|bindPopup|openTooltip|bindTooltip):[\s\S]*?^\}\);$/gm,
  /^(?:Polyline|Polygon|LayerGroup)\.include\(\{[\s\S]*?^\}\);$/gm,
  /^(?:Marker|Circle|CircleMarker)\.include\(PointToGeoJSON\);$/gm,
  /^Map\.addInitHook\('addHandler', '(?:boxZoom|tapHold)', \w+\);$/gm,
  // other names of what we import
  /^(?:Map|CRS|TileLayer|tileLayer|SVG|GeoJSON)\.\w+ = \w+;$/gm,
  /^[Cc]ontrol\.(?:layers|zoom) = \w+;$/gim,
]

/** @throws where Leaflet is no longer written as these rules expect */
export const leanLeaflet = (code: string): string =>
  applied('Leaflet', code, [
    ...leaveOut.map((rule) => [rule, ''] as const),
    [/\|\| svg\(options\)/g, '|| canvas(options)'],
    [/= (\w+\.extend|extend)\(/g, '= /* @__PURE__ */ $1('],
  ])

/** uPlot with only straight lines. @throws as above */
export const leanUplot = (code: string): string =>
  applied('uPlot', code, [[/^\t\(paths\.(?:stepped|bars|spline)\s*= \w+\);$/gm, '']])

/**
 * Preact without a leak of 11.2: the first virtual node of a component stays in its parent's
 * properties, and so did the children that it was drawn with. Components that have nothing new to
 * draw share those with their successors, whose parents are newer, so a list that news arrives at
 * kept every state that it was ever in: 40 MB an hour. @throws as above
 */
export const leanPreact = (code: string): string =>
  applied('Preact', code, [[/\b(\w)\.__=\1\.__e=null,/g, '$1.__=$1.__e=$1.__k=null,']])

function applied(
  library: string,
  code: string,
  rules: readonly (readonly [RegExp, string])[],
): string {
  let lean = code
  for (const [rule, by] of rules) {
    const next = lean.replace(rule, by)
    if (next === lean) throw new Error(`${library} has changed: nothing matches ${rule.source}`)
    lean = next
  }
  return lean
}
