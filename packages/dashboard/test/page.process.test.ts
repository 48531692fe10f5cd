import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sendRequest } from './support/test-stack.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'
import { startDashboard, TOKENS } from './support/start-dashboard.ts'

const ROOT = /^\/assets\/[^/]+\//

/** The paths of the files that a page names in advance. */
async function readPreloads(url: string, path: string, language = 'en'): Promise<string[]> {
  const page = await sendRequest(url + path, 'GET', { headers: { 'accept-language': language, accept: 'text/html' } })
  return [...new Set(page.text.match(/\/assets\/[^"]+/g))]
}

/** The paths of all files that a page imports, in the order of their discovery. */
async function readAllFiles(url: string, paths: readonly string[]): Promise<string[]> {
  const files = new Set((await Promise.all(paths.map((path) => readPreloads(url, path)))).flat())
  for (const file of files) {
    const text = await (await fetch(url + file)).text()
    for (const [, name] of text.matchAll(/\b(?:from|import)[\s(]*["'](\.?\.?\/[\w./@-]+)["']/g))
      files.add(new URL(name!, url + file).pathname)
  }
  return [...files]
}

/** The size of scripts as a browser receives them (bytes). */
async function sumSizes(url: string, files: readonly string[]): Promise<number> {
  let size = 0
  for (const file of files.filter((one) => /\.m?[jt]s$/.test(one))) {
    const { headers } = await fetch(url + file, { method: 'HEAD', headers: { 'accept-encoding': 'br' } })
    size += Number(headers.get('content-length'))
  }
  return size
}

/** Limits of the scripts of a new page, by its path (KB). */
const MAX_KB = {
  '/': 75,
  '/campaigns/a': 99,
  '/shared/a': 99,
  '/creators': 60,
  '/creators/a': 80,
  '/compare': 80,
  '/client-links': 55,
  '/prices': 70,
  '/health': 60,
  '/trash': 55,
  '/nope': 50,
}
/** Limit of all scripts of the page in one language (KB). */
const MAX_TOTAL_KB = 180

describe('the page', () => {
  it('loads only the scripts of its screen', async () => {
    const { url } = await startDashboard(UNREACHABLE_URL)
    for (const [path, limit] of Object.entries(MAX_KB)) {
      const size = (await sumSizes(url, await readPreloads(url, path))) / 1_000
      expect([path, size, 10 < size && size < limit]).toEqual([path, size, true])
    }
    const all = await readAllFiles(url, ['/'])
    const total = await sumSizes(
      url,
      all.filter((file) => !file.includes('/texts/de')),
    )
    expect(total).toBeLessThan(MAX_TOTAL_KB * 1_000)
  })

  it('names all modules of its screen in advance, in the language that the browser prefers', async () => {
    const { url } = await startDashboard(UNREACHABLE_URL)
    const read = async (path: string, language?: string) =>
      (await readPreloads(url, path, language)).map((file) => file.replace(ROOT, ''))
    const english = await read('/client-links')
    expect(english).toEqual(expect.arrayContaining(['main.ts', 'texts/en/links.ts', 'screens/client-links.ts']))
    expect(english.filter((file) => file.startsWith('texts/de'))).toEqual([])
    for (const language of ['de', 'de-AT,de;q=0.9,en;q=0.8', 'en;q=0.5, fr, de;q=0.7']) {
      const german = await read('/client-links', language)
      expect(german).toContain('texts/de/links.ts')
      expect(german.filter((file) => file.startsWith('texts/en'))).toEqual([])
    }
    expect(await read('/client-links', 'fr, *;q=0.1, ;q=x')).toEqual(english)
    const { headers } = await sendRequest(url)
    expect(headers.get('vary')).toBe('accept-encoding, accept-language')
  })

  it('has a policy that allows only its own origin, and files that browsers cache without a time limit', async () => {
    const { url } = await startDashboard(UNREACHABLE_URL)
    const page = await sendRequest(`${url}/campaigns/a`)
    expect(page.status).toBe(200)
    const policy = page.headers.get('content-security-policy')!
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(policy).toMatch(/default-src 'none'; script-src 'self';/)
    expect(page.text).not.toMatch(/<script(?![^>]*src)|style=|\son\w+=/)
    const again = await sendRequest(`${url}/campaigns/b`, 'GET', {
      headers: { 'if-none-match': page.headers.get('etag')! },
    })
    expect(again.status).toBe(304)

    const files = await readAllFiles(url, ['/', '/campaigns/a'])
    for (const file of files) {
      const reply = await fetch(url + file, { headers: { 'accept-encoding': 'br' } })
      expect([file, reply.status, reply.headers.get('content-encoding')]).toEqual([file, 200, 'br'])
      expect(reply.headers.get('cache-control')).toMatch(/immutable/)
      expect(reply.headers.get('etag')).toMatch(/^"/)
      const plain = await fetch(url + file, { headers: { 'accept-encoding': 'br;q=0, gzip;q=0' } })
      const zipped = await fetch(url + file, { headers: { 'accept-encoding': 'gzip' } })
      expect(plain.headers.get('content-encoding')).toBeNull()
      const text = await plain.text()
      expect(await reply.text()).toBe(text)
      expect(await zipped.text()).toBe(text)
      // A browser can resolve every import.
      expect(text).not.toMatch(/^import .* from ["'](?![./])/m)
    }
    const { version } = /\/assets\/(?<version>[^/]+)/.exec(page.text)!.groups!
    for (const path of [`/assets/${version}/none.js`, `/assets/${version}/../app.ts`, `/assets/old/main.ts`])
      expect((await sendRequest(url + path)).body.code).toBe('NOT_FOUND')
  })
})

describe('an unknown path', () => {
  it.each(['/nope', '/campaigns', '/health/', '/campaigns/a/b', '/shared', '/shared/a/nope'])(
    '%s shows browsers the page, and programs a problem',
    async (path) => {
      const { url } = await startDashboard(UNREACHABLE_URL, TOKENS)
      const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
      const page = await sendRequest(url + path, 'GET', { headers: browser })
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(page.text).toMatch(/<div id="app">/)
      expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
      for (const accept of ['*/*', 'application/json', 'application/*, text/plain']) {
        const problem = await sendRequest(url + path, 'GET', { headers: { accept } })
        expect([problem.status, problem.body.code]).toEqual([404, 'NOT_FOUND'])
        expect(problem.headers.get('vary')).toMatch(/accept/)
      }
      const change = await sendRequest(url + path, 'DELETE', { headers: browser })
      expect([change.status, change.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    },
  )
})

it('a flame graph has its data inside, and a page of clinic is compressed for clients that accept it', async () => {
  const { url } = await startDashboard('http://127.0.0.1:1')
  const address = `${url}/reports/flame/stats/v1/read`
  const { text } = await sendRequest(`${address}/cpu-main.html`)
  const file = JSON.parse(String(gunzipSync(Buffer.from(/id="data">(.+)</.exec(text)![1]!, 'base64'))))
  expect(file.name).toBe('stats/v1/read: CPU, main thread')
  expect(text).not.toMatch(/(?:src|href)="(?!data:)/)
  for (const [accepted, coding] of [
    ['gzip, br', 'gzip'],
    ['identity', null],
  ] as const) {
    const page = await sendRequest(`${address}/clinic-flame.html`, 'GET', { headers: { 'accept-encoding': accepted } })
    expect([page.headers.get('content-encoding'), page.text.trim().slice(0, 15)]).toEqual([coding, '<!DOCTYPE html>'])
  }
})

it('reports are isolated from this origin, and no other file is served', async () => {
  const { url } = await startDashboard('http://127.0.0.1:1')
  const { body } = await sendRequest(`${url}/reports`)
  expect(body.paths).toContain('bench/report.html')
  expect(body.paths.filter((path: string) => !/^(bench\/report|flame\/\w+(\/[\w-]+){3})\.html$/.test(path))).toEqual([])
  for (const path of [body.paths[0], body.paths.at(-1)]) {
    const { status, headers, text } = await sendRequest(`${url}/reports/${path}`)
    expect([status, headers.get('content-type'), text.slice(0, 15)]).toEqual([
      200,
      'text/html; charset=utf-8',
      '<!doctype html>',
    ])
    expect(headers.get('content-security-policy')).toMatch(/^sandbox allow-scripts; default-src 'none'/)
  }
  for (const path of [
    'package.json',
    'bench/../package.json',
    'bench%2F..%2Fpackage.json',
    'flame/README.md',
    'flame/stats/v1/read/cpu-main.json.gz',
    'flame/stats/v1/read/absent.html',
    '',
  ])
    expect((await sendRequest(`${url}/reports/${path}`)).status).toBe(404)
})
