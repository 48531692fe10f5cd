import type { Category } from './frames.ts'
import { CONTROLS, createFrameNumbers, escape, MIN_SHARE, renderDocument } from './graph-document.ts'
import type { HotFunction, Share } from './hot-functions.ts'
import { getWeight, type ProfileCall, type Profile } from './profile.ts'

/** Contents of a page. */
export interface FlamePage {
  readonly title: string
  /** Description of the recording, in one sentence. */
  readonly subtitle: string
  readonly profile: Profile
  readonly hot: readonly HotFunction[]
  readonly parts: readonly Share[]
}

const MAX_TOP_ROWS = 15

const categories: Readonly<Record<Category, string>> = {
  app: 'this repository',
  dependency: 'packages',
  node: 'Node.js',
  native: 'native',
}

type PackedFrame = readonly [name: string, file: string, line: number, category: Category]
export type PackedCall = readonly [frame: number, value: number, callees?: readonly PackedCall[]]

/** Packs the tree with numbers instead of frames, which makes it ten times smaller. */
function packProfile({ root, total }: Profile): { frames: PackedFrame[]; tree: PackedCall } {
  const { frames, getFrameNumber } = createFrameNumbers<PackedFrame>(({ name, file, line, category }) => {
    return [name, file, line, category]
  })
  function packCall(call: ProfileCall): PackedCall {
    const callees = call.callees.filter((callee) => getWeight(callee) >= MIN_SHARE * total).map(packCall)
    const packed = [getFrameNumber(call.frame), Math.round(getWeight(call))] as const
    return callees.length > 0 ? [...packed, callees] : packed
  }
  const tree = packCall(root)
  return { frames, tree }
}

function renderLegend(profile: Profile): string {
  const weights = new Map<Category, number>()
  function add({ frame, self, callees }: ProfileCall): void {
    weights.set(frame.category, (weights.get(frame.category) ?? 0) + self)
    callees.forEach(add)
  }
  add(profile.root)
  const entries = Object.entries(categories) as [Category, string][]
  return entries
    .map(([category, name]) => {
      const share = (100 * (weights.get(category) ?? 0)) / Math.max(1, profile.total)
      return `<span class="key"><span class="swatch" style="background:var(--${category})"></span>${name} ${share.toFixed(1)} %</span>`
    })
    .join('\n')
}

function renderHotRow({ function: name, file, line, category, self, total }: HotFunction): string {
  const where = file ? `${file}:${line}` : 'native code'
  return `<tr data-function="${escape(name)}"><td><span class="swatch key" style="background:var(--${category})"></span></td>
<td><code>${escape(name)}</code> <span class="where">${escape(where)}</span></td>
<td class="figure">${self.toFixed(2)} %</td><td class="figure">${total.toFixed(2)} %</td></tr>`
}

const renderShareRow = ({ name, share }: Share) =>
  `<tr><td>${escape(name)}</td><td class="figure">${share.toFixed(2)} %</td></tr>`

/**
 * Renders a page without other files: the graph, its library, the hottest functions and the share of each component.
 */
export function renderPage({ title, subtitle, profile, hot, parts }: FlamePage): string {
  const top = hot.toSorted((a, b) => b.self - a.self).slice(0, MAX_TOP_ROWS)
  const body = `<p>${escape(subtitle)}</p>
<div class="bar">
${renderLegend(profile)}
${CONTROLS}
</div>
<div id="details"></div>
${profile.total === 0 ? '<p>This thread had no work.</p>\n' : ''}<div id="chart"></div>
<div class="columns">
<section><h2>Hottest functions</h2><div class="scroll"><table>
<tr><th></th><th>function</th><th class="figure">self</th><th class="figure">total</th></tr>
${top.map(renderHotRow).join('\n')}
</table></div></section>
<section><h2>By component, including its native work</h2><div class="scroll"><table>
<tr><th>component</th><th class="figure">share</th></tr>
${parts.map(renderShareRow).join('\n')}
</table></div></section>
</div>`
  const data = { ...packProfile(profile), total: Math.round(profile.total), unit: profile.unit }
  return renderDocument({ title, styles: ['page.css'], body, data, script: 'page.js' })
}
