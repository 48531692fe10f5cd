import { renderFlamePage } from '@influencer-stats/dashboard/flame-page'
import { findReports } from '@influencer-stats/dashboard/reports'
import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { packFile } from '../src/file/flame-file.ts'
import type { StackFrame } from '../src/graph/frames.ts'
import { listHotFunctions } from '../src/graph/hot-functions.ts'
import { FLAME_FOLDER, ROOT } from '../src/paths.ts'
import type { Profile, ProfileCall } from '../src/graph/profile.ts'
import { createRecordingFile, toVisibleProfile } from '../src/file/recording-file.ts'
import { renameFile } from '../src/file/rename-file.ts'
import { findAddress, serveViewer } from '../src/viewer-server.ts'
import { parseFile, readGraph, type ViewerCall } from './support/read-graph.ts'

const frame = (name: string, file = 'packages/a.ts'): StackFrame => ({ name, file, line: 1, category: 'app' })
const ROOT_FRAME: StackFrame = { name: 'all', file: '', line: 0, category: 'native' }
const GRAPH = 'stats/v1/read/cpu-thread-0'

function createFile(callees: ProfileCall[]) {
  const total = callees.reduce((sum, { self }) => sum + self, 0)
  const root = { frame: ROOT_FRAME, self: 0, callees }
  const profile: Profile = { unit: 'samples', root, total, idle: 0, program: 0 }
  const texts = { name: 'stats/v1: CPU', description: 'under load' }
  const functions = listHotFunctions(profile)
  return createRecordingFile(toVisibleProfile(profile), {
    ...texts,
    functions,
    parts: [{ name: 'logger', share: 100 }],
  })
}

/** Samples of all calls with a name, and of their callees. */
const sumFound = ({ name, where, total, callees }: ViewerCall, text: string): number =>
  `${name} ${where}`.toLowerCase().includes(text.toLowerCase())
    ? total[0]!
    : [...callees.values()].reduce((sum, callee) => sum + sumFound(callee, text), 0)

describe('a recording file', () => {
  it('has the tree of calls; the weight of invisibly small ones counts for their caller', () => {
    const small = { frame: frame('small'), self: 1, callees: [] }
    const root = parseFile(createFile([{ frame: frame('large'), self: 99_998, callees: [small] }, small]))
    expect(root).toMatchObject({ name: 'all', self: [1], total: [100_000] })
    const [large, ...others] = root.callees.values()
    expect(others).toEqual([])
    expect(large).toMatchObject({ name: 'large', where: 'packages/a.ts:1', self: [99_999], total: [99_999] })
  })

  it.each([
    [{}, 'no profiles'],
    [{ shared: { frames: [] }, profiles: [] }, 'no frame 0'],
    [{ shared: { frames: [ROOT_FRAME] }, profiles: [{ samples: [[0, 7]], weights: [1] }] }, 'no frame 7'],
    [{ shared: { frames: [ROOT_FRAME] }, profiles: [{ samples: [[0]], weights: [] }] }, 'no weight'],
  ])('that is damaged has no tree: %j', (file, message) => {
    expect(() => parseFile(file)).toThrow(message)
  })
})

describe('the viewer in a browser', () => {
  let browser: Browser
  let url: string
  let stop: () => void
  beforeAll(async () => {
    browser = await chromium.launch({ ...(await findChromium()), args: ['--no-sandbox'] })
    ;({ url, stop } = await serveViewer())
  })
  afterAll(async () => {
    stop()
    await browser.close()
  })

  async function openPage(show: (page: Page) => Promise<unknown>) {
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    const faults: string[] = []
    page.on('pageerror', (error) => void faults.push(String(error)))
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
    await show(page)
    return { page, faults }
  }
  const openFile = (file: Buffer) => openPage((page) => page.setContent(renderFlamePage(file)))

  it('draws a recording: frames, legend and tables; a search and a zoom', async () => {
    const { page, faults } = await openPage((one) => one.goto(url + findAddress(GRAPH)))
    await page.waitForSelector('.frame')
    const { file, root } = readGraph(join(FLAME_FOLDER, `${GRAPH}.json.gz`))
    expect(await page.textContent('h1')).toBe(file.name)
    expect(await page.locator('.frame').count()).toBeGreaterThan(100)
    expect(await page.textContent('#legend')).toContain(`this repository ${file.categories.app.toFixed(1)} %`)
    const [top] = file.functions
    expect(await page.textContent('#tables tr.function')).toContain(
      `${top.function} native code${top.self.toFixed(2)} %`,
    )

    await page.fill('#search', top.function)
    expect(await page.textContent('#details')).toContain(` %, ${sumFound(root, top.function)} samples`)
    expect(await page.locator('.frame[style*="--found"]').count()).toBeGreaterThan(0)

    await page.click(`#tables tr.function >> text=${file.functions[1].function}`)
    expect(await page.inputValue('#search')).toBe(file.functions[1].function)

    const before = await page.locator('.frame').count()
    await page.locator(`.frame >> text=${top.function}`).first().click()
    expect(await page.locator('.caller').count()).toBeGreaterThan(2)
    await page.click('#reset')
    expect(await page.locator('.caller').count()).toBe(0)
    expect(await page.locator('.frame').count()).toBe(before)
    await page.click('#flip')
    expect(
      await page
        .locator('.frame >> text=all')
        .first()
        .evaluate((one) => one.offsetTop),
    ).toBeGreaterThan(100)
    expect(faults).toEqual([])
  })

  it('shows names that look like markup as text', async () => {
    const evil = '</script><b>x</b>'
    const { page, faults } = await openFile(packFile(createFile([{ frame: frame(evil, evil), self: 10, callees: [] }])))
    await page.waitForSelector('.frame')
    expect(await page.locator('.frame').allTextContents()).toEqual(['all', evil])
    expect(await page.locator('b').count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('says that an idle thread had no work', async () => {
    const { page } = await openFile(packFile(createFile([])))
    await page.waitForSelector('text=This thread had no work.')
  })

  it.each([
    ['is empty', Buffer.alloc(0)],
    ['is not compressed', Buffer.from('{}')],
    ['is cut off', packFile(createFile([{ frame: frame('a'), self: 1, callees: [] }])).subarray(0, 60)],
    ['is not JSON', gzipSync('x')],
    ['has no profiles', gzipSync('{}')],
  ])('names the fault of a file that %s', async (_, file) => {
    const { page, faults } = await openFile(file)
    await page.waitForSelector('text=The file is damaged: ')
    expect(await page.textContent('h1')).toBe('This flame graph cannot be shown')
    expect(faults).toEqual([])
  })

  it('lists all graphs', async () => {
    const { page, faults } = await openPage((one) => one.goto(`${url}/`))
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    expect(links).toEqual(findReports().paths.flatMap((path) => (path.startsWith('flame/') ? [`/${path}`] : [])))
    await page.click(`a[href$="${GRAPH}.html"]`)
    await page.waitForSelector('.frame')
    expect(faults).toEqual([])
  })

  it('shows a snapshot of clinic, which is compressed', async () => {
    const { page } = await openPage((one) => one.goto(url + findAddress('stats/v1/read/clinic-flame')))
    await page.waitForSelector('text=hottest frame')
  })
})

describe('the server of the viewer', () => {
  it('has no other files, and none that is missing', async () => {
    const root = createTemporaryFolder()
    const folder = join(root, 'flame/kv/v1/put')
    mkdirSync(folder, { recursive: true })
    for (const name of ['cpu-main', 'cpu-thread-0']) writeFileSync(join(folder, `${name}.json.gz`), '')
    const { url, stop } = await serveViewer(findReports(root))
    onTestFinished(stop)
    rmSync(join(folder, 'cpu-main.json.gz'))
    const readStatus = async (path: string) => (await fetch(url + path)).status
    expect(await readStatus('/flame/kv/v1/put/cpu-thread-0.html')).toBe(200)
    for (const path of [
      'flame/kv/v1/put/cpu-main.html',
      'flame/kv/v1/put/x.html',
      'package.json',
      '%2e%2e/package.json',
    ])
      expect([path, await readStatus(`/${path}`)]).toEqual([path, 404])
  })

  it('names graphs by their folders and files', () => {
    expect(findAddress('')).toBe('/')
    for (const name of [GRAPH, `flame/${GRAPH}.json.gz`, `./flame/${GRAPH}.html`])
      expect(findAddress(name)).toBe(`/flame/${GRAPH}.html`)
    expect(findAddress('stats/v8')).toBe('/#stats/v8/read')
    expect(() => findAddress('stats/v')).toThrow('there is no flame graph stats/v; there are kv/v1/put-full, ')
  })
})

it('a renamed file changes in the graphs and the numbers, and no other text', () => {
  const folder = createTemporaryFolder()
  cpSync(join(FLAME_FOLDER, 'stats/v1'), join(folder, 'stats/v1'), { recursive: true })
  const read = (base: string, name: string) => {
    const bytes = readFileSync(join(base, 'stats/v1/read', name))
    return String(name.endsWith('.gz') ? gunzipSync(bytes) : bytes)
  }
  const former = 'packages/stats/src/youtube/fetch.ts'
  expect(renameFile(former, 'packages/x.ts', folder)).toBeGreaterThan(1)
  for (const name of ['hot.json', 'cpu-thread-0.json.gz']) {
    expect(read(FLAME_FOLDER, name)).toContain(former)
    expect(read(folder, name)).toBe(read(FLAME_FOLDER, name).replaceAll(former, 'packages/x.ts'))
  }
  expect(read(folder, 'hot.json')).not.toContain(ROOT)
})
