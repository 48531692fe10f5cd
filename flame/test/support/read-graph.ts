import { readFileSync } from 'node:fs'
import { runInThisContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import type { Category } from '../../src/graph/frames.ts'
import type { ProfileCall } from '../../src/graph/profile.ts'

/** A call as the viewer reads it. */
export interface ViewerCall {
  readonly name: string
  readonly where: string
  readonly category: Category
  readonly self: readonly number[]
  readonly total: readonly number[]
  readonly callees: ReadonlyMap<number, ViewerCall>
}

const PARSER = new URL('../../src/page/parse-file.js', import.meta.url)
/** The parser of the viewer. */
export const parseFile: (file: unknown) => ViewerCall = runInThisContext(`${readFileSync(PARSER, 'utf8')};parseFile`)

/** Reads a recorded graph with the parser of the viewer. */
export function readGraph(path: string) {
  const file = JSON.parse(String(gunzipSync(readFileSync(path))))
  const root = parseFile(file)
  return { file, root, total: root.total[0]! }
}

export function toProfileCall({ name, where, category, self, callees }: ViewerCall): ProfileCall {
  const [file = '', line = '0'] = where.split(/:(\d+)$/)
  return {
    frame: { name, file, line: Number(line), category },
    self: self[0]!,
    callees: [...callees.values()].map(toProfileCall),
  }
}
