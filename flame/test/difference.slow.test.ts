import { readProfileClock } from '@influencer-stats/bench/processes'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { renderFlamePage } from '@influencer-stats/dashboard/flame-page'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { chromium } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DIFFERENCE_HELP, parseDifferenceArguments } from '../src/difference-arguments.ts'
import { createDifferenceFile } from '../src/file/difference-file.ts'
import { listChanges, readDifference, type ProfileDifference, type TimeWindow } from '../src/graph/difference.ts'
import { ROOT } from '../src/paths.ts'
import { NODE_FLAGS } from '../src/recording/profiled-process.ts'
import { packFile } from '../src/file/flame-file.ts'
import { writeDifference } from '../src/write-difference.ts'

const FORMER_FILE = 'packages/kv/src/store/level.ts'
const PRESENT_FILE = 'packages/kv/src/store/level-store.ts'

interface Stack {
  /** Functions, the outermost first, as `name file`. */
  readonly frames: readonly string[]
  readonly samples: number
}

const INTERVAL_US = 1000
const START_US = 50_000_000

/** A profile as V8 writes it, of these stacks one after the other, each sample after an interval of 1 ms. */
function createProfile(root: string, stacks: readonly Stack[], line = 0): Profiler.Profile {
  const nodes: (Profiler.ProfileNode & { children: number[] })[] = []
  function addNode(frame: string): number {
    const [functionName = '', file = ''] = frame.split(' ')
    const url = file && (file.startsWith('node:') ? file : `file://${root}${file}`)
    const callFrame = { functionName, scriptId: file ? '9' : '0', url, lineNumber: file ? line : -1, columnNumber: 0 }
    return nodes.push({ id: nodes.length + 1, callFrame, hitCount: 0, children: [] })
  }
  addNode('(root)')
  const samples = stacks.flatMap(({ frames, samples: count }) => {
    let id = 1
    for (const frame of frames) {
      const [name] = frame.split(' ')
      const known = nodes[id - 1]!.children.find((child) => nodes[child - 1]!.callFrame.functionName === name)
      if (known === undefined) nodes[id - 1]!.children.push(addNode(frame))
      id = known ?? nodes.length
    }
    return Array.from({ length: count }, () => id)
  })
  return {
    nodes,
    samples,
    timeDeltas: samples.map(() => INTERVAL_US),
    startTime: START_US,
    endTime: START_US + samples.length * INTERVAL_US,
  }
}

const handle = `handle packages/kv/src/app.ts`
// 1,000 requests here and 500 in the base; 1 sample is 1 us per request here and 2 us in the base.
const own = createProfile(
  '/checkouts/own/',
  [
    { frames: [handle, `read ${PRESENT_FILE}`], samples: 400 },
    { frames: [handle, 'added packages/kv/src/app.ts'], samples: 300 },
    { frames: [handle, 'equal node:http'], samples: 100 },
    { frames: ['(program)'], samples: 100 },
    { frames: ['(idle)'], samples: 100 },
  ],
  20,
)
const base = createProfile('/checkouts/base/', [
  { frames: [handle, `read ${FORMER_FILE}`], samples: 300 },
  { frames: [handle, 'removed packages/kv/src/app.ts'], samples: 50 },
  { frames: [handle, 'equal node:http'], samples: 50 },
  { frames: ['(program)'], samples: 50 },
  { frames: ['(idle)'], samples: 550 },
])

const readBoth = (ownWindow?: TimeWindow) =>
  readDifference(
    { profile: own, root: '/checkouts/own/', requests: 1000, window: ownWindow },
    { profile: base, root: '/checkouts/base/', requests: 500 },
    new Map([[FORMER_FILE, PRESENT_FILE]]),
  )

describe('the difference of two profiles', () => {
  it('has the change of each function per request, matched by name and present file', () => {
    const changes = listChanges(readBoth())
    const [first] = changes
    const rounded = changes.map(({ frame, ...one }) => [
      frame.name,
      frame.file,
      ...[one.own, one.base, one.change].map(Math.round),
    ])
    expect(rounded).toEqual([
      ['added', 'packages/kv/src/app.ts', 300, 0, 300],
      ['equal', 'node:http', 100, 100, 0],
      ['(program)', '', 100, 100, 0],
      ['removed', 'packages/kv/src/app.ts', 0, 100, -100],
      ['read', PRESENT_FILE, 400, 600, -200],
    ])
    // 300 samples of 1 us: twice their square root.
    expect(first!.noise).toBeCloseTo(2 * Math.sqrt(300))
  })

  it('counts only the samples of the window, and names the time of a profile without any', () => {
    const changes = listChanges(readBoth([START_US, START_US + 400 * INTERVAL_US]))
    const find = (name: string) => changes.find(({ frame }) => frame.name === name)!
    expect([find('read').own, find('added')?.own]).toEqual([400, undefined])
    expect(() => readBoth([1, 2])).toThrow(`the profile is of ${START_US}`)
  })
})

async function openDifference(difference: ProfileDifference, colorScheme: 'light' | 'dark') {
  const file = join(createTemporaryFolder(), 'difference.html')
  writeFileSync(file, renderFlamePage(packFile(createDifferenceFile('kv-get </script>', 'request', difference))))
  const browser = await chromium.launch({ ...(await findChromium()), args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ colorScheme })
  const faults: string[] = []
  page.on('pageerror', (error) => void faults.push(String(error)))
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
  await page.goto(pathToFileURL(file).href)
  await page.waitForSelector('.frame >> text=added')
  return { page, faults }
}

/** Reads the colour of a frame: `grey`, `red` or `blue`. */
const READ_COLORS = `Object.fromEntries([...document.querySelectorAll('.frame')].map((frame) => {
  const [, a, b] = getComputedStyle(frame).backgroundColor.match(/oklab\\(([^)]*)/)?.[1].split(' ').map(Number) ?? []
  return [frame.textContent, a > 0.05 ? 'red' : b < -0.05 ? 'blue' : 'grey']
}))`

describe('the page of a difference', () => {
  it.each(['light', 'dark'] as const)('shows both colours and no fault: %s', async (colorScheme) => {
    const { page, faults } = await openDifference(readBoth(), colorScheme)
    const widths = () => page.evaluate(`[...document.querySelectorAll('.frame')].length`)
    expect(await page.evaluate(READ_COLORS)).toMatchObject({
      added: 'red',
      read: 'blue',
      equal: 'grey',
      handle: 'grey',
    })
    expect(await widths()).toBe(6)
    // A function that only the base has is visible with the widths of the base.
    await page.selectOption('#width', 'base')
    await page.waitForSelector('.frame >> text=removed')
    await page.selectOption('#scope', 'self')
    await page.fill('#search', 'read')
    await page.waitForFunction(`document.querySelector('#details').textContent === 'found: 600.0 us per request'`)
    expect(await page.textContent('#grown tr:nth-child(2)')).toContain('added')
    expect(await page.textContent('#shrunk')).toContain('only in the base')
    expect(faults).toEqual([])
  })
})

interface RecordedServer {
  readonly file: string
  readonly window: TimeWindow
}

const REQUESTS = 400
/** Profiles a small server during some requests. */
async function recordServer(...args: readonly string[]): Promise<RecordedServer> {
  const folder = createTemporaryFolder()
  const script = fileURLToPath(new URL('./fixtures/planted-server.ts', import.meta.url))
  const flags = [...NODE_FLAGS, '--cpu-prof', `--cpu-prof-dir=${folder}`]
  const child = spawn(process.execPath, [...flags, script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const [port] = await once(child.stdout, 'data')
  const from = readProfileClock()
  for (let i = 0; i < REQUESTS; i++) await (await fetch(`http://127.0.0.1:${Number(port)}`)).text()
  const window = [from, readProfileClock()] as const
  child.stdin.end()
  await exit
  return { file: join(folder, readdirSync(folder)[0]!), window }
}

describe('two profiles of a server, one with a planted function', () => {
  let servers: RecordedServer[]
  beforeAll(async () => {
    servers = [await recordServer('slow'), await recordServer()]
  }, 60_000)

  it('show the planted function first', () => {
    const [slow, usual] = servers
    const output = join(createTemporaryFolder(), 'new', 'difference.html')
    const argv = [slow!.file, usual!.file, '--output', output, '--requests', `${REQUESTS},${REQUESTS}`]
    const windows = ['--own-window', slow!.window.join(), '--base-window', usual!.window.join(), '--title', 'planted']
    const [totals, first] = writeDifference(parseDifferenceArguments([...argv, ...windows]))
    expect(totals).toContain('us per request; base ')
    expect(first).toMatch(/^\+\d.* us .*plantedWork {2}flame\/test\/fixtures\/planted-server\.ts:7$/)
    const html = readFileSync(output, 'utf8')
    const file = String(gunzipSync(Buffer.from(/id="data">(.*)</.exec(html)![1]!, 'base64')))
    expect(JSON.parse(file).name).toBe('planted')
    expect(`${html} ${file}`).not.toContain(ROOT)
  })
})

it('files that were renamed between two checkouts match', async () => {
  const folder = createTemporaryFolder()
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { stdio: 'pipe' })
  git('init', '--quiet')
  writeFileSync(join(folder, 'former.ts'), 'export const one = 1\n'.repeat(9))
  git('add', '.')
  git('commit', '--quiet', '-m', 'One')
  git('worktree', 'add', '--quiet', '--detach', join(folder, 'base'))
  git('mv', 'former.ts', 'current.ts')
  git('commit', '--quiet', '-m', 'Two')
  const write = (root: string, file: string, samples: number) => {
    const profile = createProfile(`${root}/`, [{ frames: [`read ${file}`], samples }])
    writeFileSync(join(root, 'one.cpuprofile'), JSON.stringify(profile))
    return join(root, 'one.cpuprofile')
  }
  const files = [write(folder, 'current.ts', 300), write(join(folder, 'base'), 'former.ts', 100)]
  const argv = [...files, '--output', join(folder, 'x.html'), '--own-root', folder, '--base-root', join(folder, 'base')]
  const [, ...grown] = writeDifference(parseDifferenceArguments(argv))
  expect(grown).toEqual([expect.stringMatching(/^\+200000\.0 us .* read {2}current\.ts:1$/)])
})

describe('pnpm flame difference', () => {
  it('parses its arguments, with folders that end with a slash', () => {
    const argv = ['a', 'b', '--output', 'c', '--base-root', '/base', '--requests', '5,6', '--own-window', '7,8']
    expect(parseDifferenceArguments(argv)).toMatchObject({
      own: { file: 'a', root: ROOT, requests: 5, window: [7, 8] },
      base: { file: 'b', root: '/base/', requests: 6, window: undefined },
      output: 'c',
      unit: 'request',
    })
  })

  it.each([
    [['a', '--output', 'c'], 'two files'],
    [['a', 'b'], '--output'],
    [['a', 'b', '--output', 'c', '--requests', '5'], '--requests'],
    [['a', 'b', '--output', 'c', '--own-window', '8,7'], '--own-window'],
  ])('names the invalid argument of %j', (argv, message) => {
    expect(() => parseDifferenceArguments(argv)).toThrow(message)
  })

  it('rejects a file that is not a CPU profile, and writes no page', () => {
    const file = join(createTemporaryFolder(), 'other.json')
    writeFileSync(file, '{}')
    expect(() => writeDifference(parseDifferenceArguments([file, file, '--output', `${file}.html`]))).toThrow(
      'CPU profile',
    )
    expect(existsSync(`${file}.html`)).toBe(false)
  })

  it('describes each flag', () => {
    for (const flag of ['output', 'requests', 'unit', 'own-window', 'base-window', 'own-root', 'base-root', 'title'])
      expect(DIFFERENCE_HELP).toContain(`--${flag}`)
  })
})
