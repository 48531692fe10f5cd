import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { components } from '../components.ts'
import { sumComponents } from '../graph/hot-functions.ts'
import type { Profile, ProfileCall } from '../graph/profile.ts'
import type { HotReport } from '../hot-report.ts'
import { packFile, type FlameFile, type RecordingFile } from './flame-file.ts'

/** Reads the calls of a file of the viewer. */
export function readVisibleProfile({ shared, profiles }: FlameFile): Profile {
  const [{ samples, weights, unit, endValue }] = profiles as [FlameFile['profiles'][number]]
  const calls = new Map<string, ProfileCall>()
  function getCall(stack: readonly number[]): ProfileCall {
    const key = stack.join()
    let call = calls.get(key)
    if (!call) {
      call = { frame: { file: '', line: 0, ...shared.frames[stack.at(-1)!]! }, self: 0, callees: [] }
      calls.set(key, call)
      if (stack.length > 1) getCall(stack.slice(0, -1)).callees.push(call)
    }
    return call
  }
  for (const [i, stack] of samples.entries()) getCall(stack).self += weights[i]!
  const root = samples[0] ? getCall(samples[0].slice(0, 1)) : { frame: shared.frames[0]!, self: 0, callees: [] }
  return {
    unit: unit === 'bytes' ? 'bytes' : 'samples',
    root: root as ProfileCall,
    total: endValue,
    idle: 0,
    program: 0,
  }
}

/**
 * Sums the shares of components of all recordings again. For a change of `components.ts`, so that the graphs need not
 * be recorded again.
 * @param folder folder of the recordings
 * @returns number of recordings with other shares
 */
export function recountComponents(folder: string): number {
  let changed = 0
  for (const name of globSync('*/*/*/hot.json', { cwd: folder })) {
    const text = readFileSync(join(folder, name), 'utf8')
    const hot: HotReport = JSON.parse(text)
    const graphs = hot.graphs.map((graph) => {
      const path = join(folder, dirname(name), `${graph.kind}-${graph.thread}.json.gz`)
      const file: RecordingFile = JSON.parse(String(gunzipSync(readFileSync(path))))
      const parts = sumComponents(readVisibleProfile(file), components[hot.service] ?? [])
      if (JSON.stringify(parts) !== JSON.stringify(graph.parts))
        writeFileSync(path, packFile({ ...file, parts } as FlameFile))
      return { ...graph, parts }
    })
    const counted = `${JSON.stringify({ ...hot, graphs }, undefined, 2)}\n`
    if (counted === text) continue
    writeFileSync(join(folder, name), counted)
    changed++
  }
  return changed
}
