import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { services } from '../../services.ts'
import { listAllSubjects, getFolder } from '../src/arguments.ts'
import { getKey, type StackFrame } from '../src/frames.ts'
import { components } from '../src/components.ts'
import { listHotFunctions, sumComponents, type HotFunction } from '../src/hot-functions.ts'
import { renderPage, type PackedCall } from '../src/html.ts'
import { FLAME_FOLDER, MAX_HTML_BYTES, ROOT } from '../src/paths.ts'
import type { ProfileCall, Profile } from '../src/profile.ts'
import { toCurrentReport, type HotReport } from '../src/hot-report.ts'
import { RENAMED_FILES, toCurrentFile } from '../src/renamed.ts'
import { readCode } from '../src/flame-snapshot.ts'

/** Bytes. */
const MAX_TOTAL_BYTES = 40e6

/** All resources that a browser would fetch for a page; a page is self-contained. */
const listFetched = (html: string) =>
  [...html.matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]*)"/g)]
    .map(([, target]) => target!)
    .filter((target) => !target.startsWith('data:'))

function createProfile(callees: ProfileCall[]): Profile {
  const frame: StackFrame = { name: 'all', file: '', line: 0, category: 'native' }
  const total = callees.reduce((sum, { self }) => sum + self, 0)
  return { unit: 'samples', root: { frame, self: 0, callees }, total, idle: 0, program: 0 }
}

const createPage = (profile: Profile, hot: HotFunction[] = listHotFunctions(profile)) =>
  renderPage({ title: 'stats/v1: CPU', subtitle: 'under load', profile, hot, parts: [{ name: 'logger', share: 100 }] })

describe('a page', () => {
  const evil: StackFrame = { name: '</script><b>', file: 'packages/<i>.ts', line: 1, category: 'app' }

  it('is self-contained and contains no path of this machine', () => {
    const html = createPage(createProfile([{ frame: evil, self: 10, callees: [] }]))
    expect(listFetched(html)).toEqual([])
    expect(html).not.toMatch(/@import|url\(/)
    expect(html).not.toContain(ROOT)
    expect(html.length).toBeLessThan(MAX_HTML_BYTES / 4)
  })

  it('shows names that look like markup as text', () => {
    const html = createPage(createProfile([{ frame: evil, self: 10, callees: [] }]))
    expect(html).not.toContain('</script><b>')
    expect(html).not.toContain('<i>.ts')
    expect(html).toContain('&lt;/script&gt;&lt;b&gt;')
  })

  it('has the tree with numbered frames, without invisibly small ones', () => {
    const frame = (name: string): StackFrame => ({ ...evil, name })
    const html = createPage(
      createProfile([
        { frame: frame('large'), self: 99_999, callees: [] },
        { frame: frame('tiny'), self: 1, callees: [] },
      ]),
      [],
    )
    const data = JSON.parse(/<script type="application\/json" id="data">(.*)<\/script>/.exec(html)![1]!)
    expect(data.tree[1]).toBe(100_000)
    expect(data.tree[2]).toHaveLength(1)
    expect(getKey({ ...evil, name: data.frames[data.tree[2][0][0]][0] })).toBe(getKey(frame('large')))
  })

  it('of an idle thread states that', () => {
    expect(createPage(createProfile([]))).toContain('had no work')
  })
})

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

/** The profile of a recorded page, without its invisibly small calls. */
function readRecordedProfile(html: string): Profile {
  const { frames, tree, total, unit } = JSON.parse(
    /<script type="application\/json" id="data">(.*)<\/script>/.exec(html)![1]!,
  )
  function unpack([index, value, callees = []]: PackedCall): ProfileCall {
    const [name, file, line, category] = frames[index]
    const self = callees.reduce((rest, [, one]) => rest - one, value)
    return { frame: { name, file, line, category }, self, callees: callees.map(unpack) }
  }
  return { unit, root: unpack(tree), total, idle: 0, program: 0 }
}

/** Percentage points that invisibly small calls can move between components. */
const MAX_PART_DIFFERENCE = 1
/** Samples. A page with fewer omits calls that matter. */
const MIN_SAMPLES = 2_000

describe.each(folders)('the snapshot in %s', (folder) => {
  const files = readdirSync(join(FLAME_FOLDER, folder))
  const readReport = (): HotReport =>
    toCurrentReport(JSON.parse(readFileSync(join(FLAME_FOLDER, folder, 'hot.json'), 'utf8')))

  it('is complete: both kinds, and the numbers', () => {
    const names = ['allocation-main.html', 'allocation-thread-0.html', 'cpu-main.html', 'cpu-thread-0.html', 'hot.json']
    expect(files.filter((name) => name !== 'clinic-flame.html').toSorted()).toEqual(names)
  })

  it('has the code of its lines at its commit', () => {
    const { lines = {}, machine } = readReport()
    for (const [line, code] of Object.entries(lines))
      expect([line, readCodeAt(machine.commit, line) ?? code]).toEqual([line, code])
    expect(Object.values(lines)).not.toContain('')
  })

  it('names files that exist, or whose present path is known', () => {
    const named = readReport().graphs.flatMap(({ functions }) =>
      functions.filter(({ category }) => category === 'app').map(({ file }) => toCurrentFile(file)),
    )
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  })

  it('has the shares that the present components give its calls', () => {
    const { service, graphs } = readReport()
    for (const { kind, thread, total, parts } of graphs.filter((graph) => graph.total >= MIN_SAMPLES)) {
      const html = readFileSync(join(FLAME_FOLDER, folder, `${kind}-${thread}.html`), 'utf8')
      const shares = new Map(
        sumComponents(readRecordedProfile(html), components[service]!).map(({ name, share }) => [name, share]),
      )
      for (const { name, share } of parts)
        expect(
          Math.abs((shares.get(name) ?? 0) - share),
          `${kind} ${thread}, ${name}: ${share} % of ${total}`,
        ).toBeLessThan(MAX_PART_DIFFERENCE)
    }
  })

  it.each(files)('%s is small, needs nothing else and names no path of a machine', (name) => {
    const text = readFileSync(join(FLAME_FOLDER, folder, name), 'utf8')
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_HTML_BYTES)
    expect(listFetched(text)).toEqual([])
    expect(text).not.toMatch(/file:\/\/\/|fonts\.css|\/(?:home|root|Users)\/[a-z]/)
    for (const path of [ROOT, join(homedir(), '/')].filter((one) => one.length > 2)) expect(text).not.toContain(path)
  })
})

it('the code of a line is its present text, and empty if there is none', () => {
  const file = 'flame/test/snapshots.test.ts'
  expect(readCode(`${file}:1`)).toBe(readFileSync(join(ROOT, file), 'utf8').split('\n')[0])
  expect([readCode(`${file}:99999`), readCode('flame/absent.ts:1')]).toEqual(['', ''])
})

it('the snapshots take at most 40 MB', () => {
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

it('every renamed file exists under its present path alone', () => {
  const paths = Object.entries(RENAMED_FILES)
  expect(paths.filter(([former]) => existsSync(join(ROOT, former)))).toEqual([])
  expect(paths.filter(([, present]) => !existsSync(join(ROOT, present)))).toEqual([])
})
