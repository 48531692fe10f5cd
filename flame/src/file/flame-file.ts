import { gzipSync } from 'node:zlib'
import type { Category, StackFrame } from '../graph/frames.ts'
import { getKey } from '../graph/frames.ts'
import type { FunctionChange } from '../graph/difference.ts'
import type { HotFunction, Share } from '../graph/hot-functions.ts'

interface FileFrame {
  readonly name: string
  /** Absent if there is none. */
  readonly file?: string
  readonly line?: number
  readonly category: Category
}

/** One profile: stacks of frame numbers, the outermost first, with the samples or bytes of the last frame itself. */
interface FileProfile {
  readonly type: 'sampled'
  readonly name: string
  /** `none` are samples. */
  readonly unit: 'none' | 'bytes'
  readonly startValue: 0
  readonly endValue: number
  readonly samples: readonly (readonly number[])[]
  readonly weights: readonly number[]
}

/** A file that the viewer draws. It has the format of speedscope (https://www.speedscope.app), and more fields. */
export interface FlameFile {
  readonly $schema: 'https://www.speedscope.app/file-format-schema.json'
  readonly name: string
  readonly description: string
  readonly shared: { readonly frames: readonly FileFrame[] }
  readonly profiles: readonly FileProfile[]
}

/** The recording of a thread. */
export interface RecordingFile extends FlameFile {
  /** Own shares by origin (percent). */
  readonly categories: Readonly<Record<Category, number>>
  readonly functions: readonly HotFunction[]
  readonly parts: readonly Share[]
}

/** Profiles of this checkout and of the base, or of two variants. */
export interface DifferenceFile extends FlameFile {
  /** Unit of work: `request`. */
  readonly unit: string
  /** Time per unit of one sample of each profile (us). */
  readonly perSample: readonly [own: number, base: number]
  readonly changes: readonly FunctionChange[]
  /** Names of both sides. Absent: this checkout and the base. */
  readonly names?: readonly [own: string, base: string]
}

interface Call<Self> {
  readonly frame: StackFrame
  readonly callees: readonly Self[]
}

/** One side of a tree of calls. */
export interface FileSide<C> {
  readonly name: string
  readonly unit: 'samples' | 'bytes'
  readonly total: number
  readonly getSelf: (call: C) => number
}

/** Converts a tree of calls to the format of the viewer, with a profile for each side. */
export function createFlameFile<C extends Call<C>>(
  { name, description }: Pick<FlameFile, 'name' | 'description'>,
  root: C,
  sides: readonly FileSide<C>[],
): FlameFile {
  const frames: FileFrame[] = []
  const numbers = new Map<string, number>()
  function getFrameNumber(frame: StackFrame): number {
    const key = getKey(frame)
    let number = numbers.get(key)
    if (number === undefined) {
      const { name, file, line, category } = frame
      number = frames.push({ name, ...(file && { file }), ...(line > 0 && { line }), category }) - 1
      numbers.set(key, number)
    }
    return number
  }
  const profiles = sides.map(({ name, unit, total, getSelf }): FileProfile => {
    const samples: number[][] = []
    const weights: number[] = []
    function add(call: C, callers: readonly number[]): void {
      const stack = [...callers, getFrameNumber(call.frame)]
      if (getSelf(call) > 0) {
        samples.push(stack)
        weights.push(getSelf(call))
      }
      for (const callee of call.callees) add(callee, stack)
    }
    add(root, [])
    const fileUnit = unit === 'bytes' ? 'bytes' : 'none'
    return { type: 'sampled', name, unit: fileUnit, startValue: 0, endValue: total, samples, weights }
  })
  const $schema = 'https://www.speedscope.app/file-format-schema.json'
  return { $schema, name, description, shared: { frames }, profiles }
}

export const packFile = (file: FlameFile): Buffer => gzipSync(JSON.stringify(file), { level: 9 })
