import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { services } from '../../services.ts'
import { listAllSubjects, getFolder } from '../src/arguments.ts'
import { components } from '../src/components.ts'
import { formatSubtitle, formatTitle, readCode } from '../src/flame-snapshot.ts'
import type { Component } from '../src/graph/hot-functions.ts'
import type { HotReport } from '../src/hot-report.ts'
import { FLAME_FOLDER, ROOT } from '../src/paths.ts'
import type { ProfileCall } from '../src/graph/profile.ts'
import { renderRecordingReadme } from '../src/readme.ts'
import { listTopFunctions } from '../src/file/recording-file.ts'
import { readGraph, toProfileCall } from './support/read-graph.ts'

/** Bytes. */
const MAX_TOTAL_BYTES = 10e6
/** A page of clinic has 250 KB. */
const MAX_FILE_BYTES = 300_000

const CLINIC_FILE = 'clinic-flame.html.gz'

/** All resources that a browser would fetch for a page; a page is self-contained. */
const listFetched = (html: string) =>
  [...html.matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]*)"/g)]
    .map(([, target]) => target!)
    .filter((target) => !target.startsWith('data:'))

/** Every folder with a snapshot, below the services' folders. */
const folders = Object.keys(services)
  .filter((name) => existsSync(join(FLAME_FOLDER, name)))
  .flatMap((name) => readdirSync(join(FLAME_FOLDER, name), { withFileTypes: true, recursive: true }))
  .filter((entry) => entry.isFile())
  .map(({ parentPath }) => relative(FLAME_FOLDER, parentPath))
  .filter((folder, i, all) => all.indexOf(folder) === i)

/** The code of a line in a commit; `undefined` if the checkout does not have the commit, as in a shallow clone. */
function readCodeAt(commit: string, line: string): string | undefined {
  const [file, number] = line.split(':')
  const { status, stdout } = spawnSync('git', ['show', `${commit}:${file}`], { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? (stdout.split('\n')[Number(number) - 1]?.trim() ?? '') : undefined
}

/** Percentage points: shares have two decimals. */
const ROUNDING = 0.011

/** Sum of a call and all calls below it, as the width of its frame shows. */
const sumSubtree = ({ self, callees }: ProfileCall): number =>
  callees.reduce((sum, callee) => sum + sumSubtree(callee), self)

/**
 * Sums the subtrees of each component in a graph, from its first frames: without the subtrees that another component
 * begins below them.
 */
function sumRooms(root: ProfileCall, all: readonly Component[]): Map<string, number> {
  const rooms = new Map<string, number>()
  const find = (file: string, key: 'files' | 'shared') =>
    all.find((one) => one[key]?.some((prefix) => file.startsWith(prefix)))?.name
  function visit(call: ProfileCall, room: string, isShared: boolean): void {
    const { name, file } = call.frame
    const own = find(file, 'files')
    const shared = isShared ? find(file, 'shared') : undefined
    const next = own ?? shared ?? (name === '(garbage collector)' && room === 'other' ? 'garbage collector' : room)
    if (next !== room) {
      rooms.set(next, (rooms.get(next) ?? 0) + sumSubtree(call))
      rooms.set(room, (rooms.get(room) ?? 0) - sumSubtree(call))
    }
    for (const callee of call.callees) visit(callee, next, isShared && own === undefined)
  }
  rooms.set('other', sumSubtree(root))
  for (const callee of root.callees) visit(callee, 'other', true)
  return rooms
}

describe.each(folders)('the snapshot in %s', (folder) => {
  const files = readdirSync(join(FLAME_FOLDER, folder))
  const readReport = (): HotReport => JSON.parse(readFileSync(join(FLAME_FOLDER, folder, 'hot.json'), 'utf8'))

  it('is complete: both kinds, and the numbers', () => {
    const graphs = ['allocation-main', 'allocation-thread-0', 'cpu-main', 'cpu-thread-0'].map(
      (name) => `${name}.json.gz`,
    )
    expect(files.filter((name) => name !== CLINIC_FILE).toSorted()).toEqual(['README.md', ...graphs, 'hot.json'])
  })

  it('has a README with the tables of its graphs', () => {
    expect(readFileSync(join(FLAME_FOLDER, folder, 'README.md'), 'utf8')).toBe(renderRecordingReadme(readReport()))
  })

  it('has graphs that the viewer reads, with the numbers of the report', () => {
    for (const graph of readReport().graphs) {
      const { file, total } = readGraph(join(FLAME_FOLDER, folder, `${graph.kind}-${graph.thread}.json.gz`))
      expect([file.name, file.description]).toEqual([
        formatTitle(readReport(), graph),
        formatSubtitle(readReport(), graph),
      ])
      expect([total, file.profiles[0].endValue]).toEqual([graph.total, graph.total])
      expect([file.functions, file.parts]).toEqual([listTopFunctions(graph.functions), graph.parts])
    }
  })

  it('has the code of its lines at its commit', () => {
    const { lines = {}, machine } = readReport()
    for (const [line, code] of Object.entries(lines))
      expect([line, readCodeAt(machine.commit, line) ?? code]).toEqual([line, code])
    expect(Object.values(lines)).not.toContain('')
  })

  it('names files that exist; after a renaming, `pnpm flame rename OLD NEW` corrects them', () => {
    const named = readReport().graphs.flatMap(({ functions }) =>
      functions.filter(({ category }) => category === 'app').map(({ file }) => file),
    )
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  })

  it('has the shares of the subtrees of its components; after a change of them, `pnpm flame recount` corrects them', () => {
    const { service, graphs } = readReport()
    for (const { kind, thread, parts } of graphs) {
      const { root, total } = readGraph(join(FLAME_FOLDER, folder, `${kind}-${thread}.json.gz`))
      const shown = new Map(parts.map(({ name, share }) => [name, share]))
      for (const [name, weight] of sumRooms(toProfileCall(root), components[service]!)) {
        const share = total === 0 ? 0 : (100 * weight) / total
        expect(Math.abs((shown.get(name) ?? 0) - share), `${kind} ${thread}, ${name}: ${share} %`).toBeLessThan(
          ROUNDING,
        )
      }
    }
  })

  it.each(files)('%s is small and names no path of a machine', (name) => {
    const bytes = readFileSync(join(FLAME_FOLDER, folder, name))
    expect(bytes.length).toBeLessThanOrEqual(MAX_FILE_BYTES)
    const text = String(name.endsWith('.gz') ? gunzipSync(bytes) : bytes)
    if (name === CLINIC_FILE) expect(listFetched(text)).toEqual([])
    expect(text).not.toMatch(/file:\/\/\/|fonts\.css|\/(?:home|root|Users)\/[a-z]/)
    for (const path of [ROOT, join(homedir(), '/')].filter((one) => one.length > 2)) expect(text).not.toContain(path)
  })
})

it('the code of a line is its present text, and empty if there is none', () => {
  const file = 'flame/test/snapshots.process.test.ts'
  expect(readCode(`${file}:1`)).toBe(readFileSync(join(ROOT, file), 'utf8').split('\n')[0])
  expect([readCode(`${file}:99999`), readCode('flame/absent.ts:1')]).toEqual(['', ''])
})

it('the snapshots take at most 10 MB', () => {
  const sizes = folders.flatMap((folder) =>
    readdirSync(join(FLAME_FOLDER, folder)).map((name) => statSync(join(FLAME_FOLDER, folder, name)).size),
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_TOTAL_BYTES)
})

it('there are snapshots of every variant of every service', async () => {
  const missing = (await listAllSubjects())
    .map(getFolder)
    .filter((folder) => !existsSync(join(FLAME_FOLDER, folder, 'hot.json')))
  expect(missing).toEqual([])
})

it('clinic snapshots are of the first or the last variant of a service', async () => {
  const definitions = await Promise.all(Object.values(services).map((load) => load()))
  const ends = definitions.map(({ name, variants = {} }) => {
    const names = Object.keys(variants)
    return new RegExp(`^${name}/(?:${names[0]}|${names.at(-1)})/`)
  })
  const withClinic = folders.filter((folder) => existsSync(join(FLAME_FOLDER, folder, CLINIC_FILE)))
  expect(withClinic.filter((folder) => !ends.some((pattern) => pattern.test(folder)))).toEqual([])
})
