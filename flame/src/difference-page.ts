import {
  listChanges,
  measureChange,
  type DifferenceCall,
  type FunctionChange,
  type ProfileDifference,
} from './difference.ts'
import type { StackFrame } from './frames.ts'
import { CONTROLS, createFrameNumbers, escape, MIN_SHARE, renderDocument } from './graph-document.ts'

const MAX_ROWS = 15

type DifferenceFrame = readonly [name: string, file: string, line: number]
type PackedDifference = readonly [frame: number, own: number, base: number, callees?: readonly PackedDifference[]]

/** The tree with numbered frames, and the samples of each function itself. Invisibly small calls are omitted. */
function packDifference({ root, total }: ProfileDifference): { frames: DifferenceFrame[]; tree: PackedDifference } {
  const { frames, getFrameNumber } = createFrameNumbers<DifferenceFrame>(({ name, file, line }) => [name, file, line])
  const weigh = ({ own, base, callees }: DifferenceCall): number =>
    callees.reduce((sum, callee) => sum + weigh(callee), own + base)
  function packCall(call: DifferenceCall): PackedDifference {
    const callees = call.callees.filter((callee) => weigh(callee) >= MIN_SHARE * (total.own + total.base)).map(packCall)
    const packed = [getFrameNumber(call.frame), call.own, call.base] as const
    return callees.length > 0 ? [...packed, callees] : packed
  }
  const tree = packCall(root)
  return { frames, tree }
}

const formatTime = (microseconds: number) => microseconds.toFixed(Math.abs(microseconds) < 10 ? 3 : 1)
const formatChange = (change: number) => `${change < 0 ? '-' : '+'}${formatTime(Math.abs(change))}`

function formatPlace({ file, line }: StackFrame): string {
  if (file === '') return 'native code'
  return line > 0 ? `${file}:${line}` : file
}

/** One line: the change of a function per unit (us), with its noise. */
export const formatFunctionChange = ({ frame, change, noise }: FunctionChange): string =>
  `${formatChange(change)} us (± ${formatTime(noise)})  ${frame.name}  ${formatPlace(frame)}`

/** One sentence: processor time of both sides per unit. */
export function formatTotals(difference: ProfileDifference, unit: string): string {
  const { own, base, change, noise } = measureChange(difference.total, difference)
  const percent = base > 0 ? `, ${change < 0 ? '' : '+'}${((100 * change) / base).toFixed(1)} %` : ''
  return `${formatTime(own)} us per ${unit}; base ${formatTime(base)} us: ${formatChange(change)} us (± ${formatTime(noise)}${percent})`
}

function renderRow({ frame, own, base, change, noise }: FunctionChange): string {
  const side =
    own === 0 ? ' <span class="side">only in the base</span>' : base === 0 ? ' <span class="side">new</span>' : ''
  const color = Math.abs(change) <= noise ? 'neutral' : change > 0 ? 'dearer' : 'cheaper'
  return `<tr data-function="${escape(frame.name)}"><td><span class="swatch key" style="background:var(--${color})"></span></td>
<td><code>${escape(frame.name)}</code> <span class="where">${escape(formatPlace(frame))}</span>${side}</td>
<td class="figure">${formatTime(own)}</td><td class="figure">${formatTime(base)}</td>
<td class="figure">${formatChange(change)} <span class="where">± ${formatTime(noise)}</span></td></tr>`
}

const renderTable = (id: string, title: string, changes: readonly FunctionChange[]) =>
  `<section><h2>${title}</h2><div class="scroll"><table id="${id}">
<tr><th></th><th>function</th><th class="figure">here</th><th class="figure">base</th><th class="figure">change</th></tr>
${changes.slice(0, MAX_ROWS).map(renderRow).join('\n')}
</table></div></section>`

/** Contents of a page about two profiles. */
export interface DifferencePage {
  readonly title: string
  /** Unit of work: `request`. */
  readonly unit: string
  readonly difference: ProfileDifference
}

/** One self-contained file: the graph, its library, and the functions with the largest changes. */
export function renderDifferencePage({ title, unit, difference }: DifferencePage): string {
  const changes = listChanges(difference)
  const { perSample, total } = difference
  const body = `<p>Processor time of the thread: ${escape(formatTotals(difference, unit))}. ${total.own} and ${total.base} samples with work.</p>
<div class="bar">
<span class="key"><span class="swatch" style="background:var(--dearer)"></span>costs more than the base</span>
<span class="key"><span class="swatch" style="background:var(--neutral)"></span>equal within the noise</span>
<span class="key"><span class="swatch" style="background:var(--cheaper)"></span>costs less than the base</span>
<label>Width <select id="width"><option value="own">this checkout</option><option value="base">base</option></select></label>
<label>Colour <select id="scope"><option value="total">with callees</option><option value="self">function itself</option></select></label>
${CONTROLS}
</div>
<div id="details"></div>
<div id="chart"></div>
<p>Times are microseconds per ${escape(unit)}. Functions match by name and file. ± is twice the standard deviation that chance gives to the samples.</p>
<div class="columns">
${renderTable(
  'grown',
  'Grew most (self)',
  changes.filter(({ change }) => change > 0),
)}
${renderTable('shrunk', 'Shrank most (self)', changes.filter(({ change }) => change < 0).toReversed())}
</div>`
  const data = { ...packDifference(difference), perSample, unit }
  return renderDocument({ title, styles: ['page.css', 'difference.css'], body, data, script: 'difference.js' })
}
