import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createStatsClient } from '../src/client.ts'
import { failing, listOf, numbers, startFakeYoutube, videoIds, type YoutubeHandler } from './support/fake-youtube.ts'
import { newError, oldError } from './support/outages.ts'
import { startStats } from './support/stats.ts'

const OLD_KEY = 'AIzaSy-an-old-key-1111'
const NEW_KEY = 'AIzaSy-a-new-key-2222'
const OTHER_KEY = 'AIzaSy-another-key-3333'

const keyOf = (reply: ServerResponse) => new URL(reply.req.url!, 'http://fake').searchParams.get('key')
const refuse = (reply: ServerResponse, status: number, body: object, headers = {}) =>
  reply.writeHead(status, headers).end(JSON.stringify(body))

/** Starts an API that refuses the old key. */
async function startRefusing(status: number, body: object) {
  const youtube = await startFakeYoutube()
  const keys: (string | null)[] = []
  youtube.handler = (ids, reply) => {
    keys.push(keyOf(reply))
    if (keyOf(reply) === OLD_KEY) refuse(reply, status, body)
    else reply.end(listOf(ids))
  }
  return { youtube, keys }
}

function writeKeys(...keys: string[]): string {
  const file = join(createTemporaryFolder(), 'key')
  writeFileSync(file, keys.map((key) => `${key}\n`).join(''))
  return file
}

async function start(youtubeUri: string, settings = {}) {
  const timing = { refreshInterval: 50, dailyBudget: 0 }
  const stats = await startStats({ youtubeUri, data: createTemporaryFolder(), ...timing, ...settings })
  onTestFinished(async () => void (await stats.stop()))
  return { ...stats, upstream: () => createStatsClient(stats.url).getUpstream() }
}

describe('a refused API key', () => {
  it.each(['v3', 'v8'])('is identified in %s by four characters, with the reason and the remedy', async (variant) => {
    const { youtube, keys } = await startRefusing(
      403,
      newError(403, 'PERMISSION_DENIED', 'API_KEY_HTTP_REFERRER_BLOCKED'),
    )
    const stats = await start(youtube.url, { variant, youtubeApiKey: `${OLD_KEY}\n` })
    await stats.put('/collections/c', { videos: videoIds(1) })
    const read = await waitUntil(async () => {
      const reply = await stats.get('/collections/c/stats')
      return reply.body.reason && reply
    })
    const reason = 'API_KEY_HTTP_REFERRER_BLOCKED'
    const remedy = expect.stringContaining('application restrictions')
    expect(read).toMatchObject({ status: 503, body: { code: 'UPSTREAM_UNAVAILABLE', reason, remedy } })
    expect(Date.parse(read.body.retryAt)).toBeGreaterThan(Date.now())
    const state = await stats.upstream()
    expect(state).toMatchObject({ state: 'paused', reason, remedy, key: '…1111', source: youtube.url })
    const kinds = { videos: 1, channels: 0, playlistItems: 0, lookups: 0 }
    expect(state.budget).toEqual({ limit: null, used: 1, left: null, kinds })
    expect(Date.parse(state.retryAt!) - Date.parse(state.since!)).toBe(60_000)
    expect(keys).toEqual([OLD_KEY])
    const { body: metrics } = await stats.get('/metrics')
    if (variant === 'v8') {
      expect(metrics).toMatch(/^stats_upstream_available 0$/m)
      expect(metrics).toMatch(
        /^stats_upstream_outage\{state="paused",reason="API_KEY_HTTP_REFERRER_BLOCKED",key="…1111"\} 1$/m,
      )
    }
    expect(JSON.stringify([read.body, state, metrics])).not.toContain(OLD_KEY)
  })

  it('is named in the log by four characters, with the reason and the remedy', async () => {
    const refusal = newError(403, 'PERMISSION_DENIED', 'API_KEY_HTTP_REFERRER_BLOCKED')
    const { youtube } = await startRefusing(403, refusal)
    const env = { YOUTUBE_URI: youtube.url, YOUTUBE_API_KEY: OLD_KEY }
    const args = ['stats', '--port', '0', '--data', createTemporaryFolder(), '--logLevel', 'info']
    const started = spawnStart(args, env, { script: START_SCRIPT })
    const { url } = (await started.waitUntilReady()).stats!
    const body = JSON.stringify({ videos: videoIds(1) })
    await fetch(`${url}/collections/c`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    const lines = () => started.stdout.split('\n').filter((line) => line.includes('API_KEY_HTTP_REFERRER_BLOCKED'))
    await waitUntil(() => lines().length > 0)
    expect((await started.stop()).code).toBe(0)
    for (const part of ['…1111', 'application restrictions']) expect(lines()[0]).toContain(part)
    expect(started.stdout + started.stderr).not.toContain(OLD_KEY)
  })

  it.each(['v3', 'v8'])('is replaced in %s by a change of its file, without a restart', async (variant) => {
    const { youtube, keys } = await startRefusing(403, oldError(403, 'ipRefererBlocked'))
    const file = writeKeys(OLD_KEY)
    const stats = await start(youtube.url, { variant, youtubeApiKeyFile: file })
    await stats.put('/collections/c', { videos: videoIds(1) })
    await waitUntil(async () => (await stats.get('/collections/c/stats')).body.reason === 'ipRefererBlocked')
    writeFileSync(`${file}.new`, `${NEW_KEY}\n`)
    renameSync(`${file}.new`, file)
    await waitUntil(async () => (await stats.get('/collections/c/stats')).status === 200)
    expect(keys.slice(0, 2)).toEqual([OLD_KEY, NEW_KEY])
    expect(await stats.upstream()).toMatchObject({ state: 'ok', key: '…2222' })
  })

  it('is followed by the standby key if it is invalid, without an outage', async () => {
    const { youtube, keys } = await startRefusing(400, newError(400, 'INVALID_ARGUMENT', 'API_KEY_INVALID'))
    const stats = await start(youtube.url, { youtubeApiKeyFile: writeKeys(OLD_KEY, NEW_KEY) })
    await stats.put('/collections/c', { videos: videoIds(1) })
    expect((await stats.get('/collections/c/stats')).status).toBe(200)
    expect(keys.slice(0, 2)).toEqual([OLD_KEY, NEW_KEY])
    await waitUntil(() => keys.length > 4)
    expect(new Set(keys.slice(1))).toEqual(new Set([NEW_KEY]))
  })

  it.each([
    ['the quota is used up', 403, oldError(403, 'quotaExceeded')],
    [
      'a limit of a day is reported as a rate',
      429,
      newError(429, 'RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', { quota_unit: '1/d/{project}' }),
    ],
    ['there are too many calls', 429, oldError(429, 'rateLimitExceeded')],
    ['the key is restricted', 403, oldError(403, 'ipRefererBlocked')],
  ])('is not followed by the standby key if %s', async (_, status, body) => {
    const { youtube, keys } = await startRefusing(status, body)
    const stats = await start(youtube.url, { youtubeApiKeyFile: writeKeys(OLD_KEY, OTHER_KEY) })
    await stats.put('/collections/c', { videos: videoIds(1) })
    await waitUntil(async () => (await stats.upstream()).state === 'paused')
    expect(keys).toEqual([OLD_KEY])
  })
})

describe('the state of YouTube', () => {
  /** Starts an API whose replies wait until the test releases them. */
  async function startHeld(answer: YoutubeHandler) {
    const youtube = await startFakeYoutube()
    const called = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    youtube.handler = (ids, reply) => (called.resolve(), release.promise.then(() => answer(ids, reply)))
    return { url: youtube.url, called: called.promise, release: release.resolve }
  }

  it.each([
    ['v3', numbers, 'ok'],
    ['v6', numbers, 'ok'],
    ['v8', numbers, 'ok'],
    ['v3', failing, 'failing'],
    ['v8', failing, 'failing'],
  ])('is unknown in %s until the first call has ended', async (variant, answer, state) => {
    const youtube = await startHeld(answer)
    const stats = await start(youtube.url, { variant })
    await stats.put('/collections/empty', { videos: [] })
    await stats.get('/collections/empty/stats')
    expect(await stats.upstream()).toMatchObject({ state: 'unknown', source: youtube.url })
    await stats.put('/collections/c', { videos: videoIds(1) })
    void stats.get('/collections/c/stats')
    await youtube.called
    expect((await stats.upstream()).state).toBe('unknown')
    if (variant === 'v8') {
      const { body: metrics } = await stats.get('/metrics')
      expect(metrics).toMatch(/^stats_upstream_available 1$/m)
      expect(metrics).not.toMatch(/^stats_upstream_outage\{/m)
    }
    youtube.release()
    await waitUntil(async () => (await stats.upstream()).state === state)
  })

  it.each(['v3', 'v8'])('is unknown in %s after a change of a refused key, until a call has ended', async (variant) => {
    const { youtube } = await startRefusing(403, oldError(403, 'ipRefererBlocked'))
    const file = writeKeys(OLD_KEY)
    const stats = await start(youtube.url, { variant, youtubeApiKeyFile: file })
    await stats.put('/collections/c', { videos: videoIds(1) })
    await waitUntil(async () => (await stats.get('/collections/c/stats')).body.reason === 'ipRefererBlocked')
    const release = Promise.withResolvers<void>()
    youtube.handler = (ids, reply) => release.promise.then(() => numbers(ids, reply))
    writeFileSync(`${file}.new`, `${NEW_KEY}\n`)
    renameSync(`${file}.new`, file)
    await waitUntil(async () => (await stats.upstream()).state !== 'paused')
    expect(await stats.upstream()).toMatchObject({ state: 'unknown', key: '…2222' })
    release.resolve()
    await waitUntil(async () => (await stats.get('/collections/c/stats')).status === 200)
    expect((await stats.upstream()).state).toBe('ok')
  })
})

describe('a running service', () => {
  it('makes no call before Retry-After at an unlimited budget, and reports it', async () => {
    const youtube = await startFakeYoutube()
    const stats = await start(youtube.url)
    for (let i = 0; i < 5; i++) await stats.put(`/collections/c${i}`, { videos: videoIds(200, i * 200) })
    await waitUntil(() => new Set(youtube.calls.flat()).size === 1_000)
    youtube.handler = (_, reply) => refuse(reply, 429, oldError(429, 'rateLimitExceeded'), { 'retry-after': '3' })
    await waitUntil(async () => (await stats.upstream()).state === 'paused')
    const { retryAt, since } = await stats.upstream()
    // Lets the calls in flight end.
    await waitUntil(async () => (await stats.get('/metrics')).status === 200)
    const before = youtube.calls.length
    const times: number[] = []
    youtube.handler = (ids, reply) => {
      times.push(Date.now())
      numbers(ids, reply)
    }
    await waitUntil(async () => (await stats.upstream()).state === 'ok')
    expect(Date.parse(retryAt!) - Date.parse(since!)).toBeGreaterThanOrEqual(3_000)
    // The clocks of both ends are the same; timers may be a little early.
    expect(times[0]!).toBeGreaterThanOrEqual(Date.parse(retryAt!) - 20)
    expect(youtube.calls[before]).toHaveLength(50)
  })

  it('reports its own budget', async () => {
    const youtube = await startFakeYoutube()
    const stats = await start(youtube.url, { dailyBudget: 1 })
    await stats.put('/collections/c', { videos: videoIds(1) })
    await waitUntil(async () => (await stats.upstream()).budget.used === 1)
    const budget = { limit: 1, used: 1, left: 0 }
    expect(await stats.upstream()).toMatchObject({ state: 'paused', reason: 'dailyBudgetSpent', budget })
  })
})

describe('the settings', () => {
  async function startProcess(env: Record<string, string>) {
    const args = ['stats', '--port', '0', '--data', createTemporaryFolder()]
    const child = spawn(process.execPath, [START_SCRIPT, ...args], { env: { PATH: process.env.PATH, ...env } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const code = await new Promise((resolve) => child.once('close', resolve))
    return { code, output }
  }

  it.each([
    [
      'a path in YOUTUBE_URI',
      { YOUTUBE_URI: 'https://www.googleapis.com/youtube/v3', YOUTUBE_API_KEY: NEW_KEY },
      /path/,
    ],
    ['an impossible port', { YOUTUBE_URI: 'http://localhost:99999' }, /not an address/],
    ['the API of Google without a key', { YOUTUBE_URI: 'https://www.googleapis.com' }, /YOUTUBE_API_KEY/],
    ['a key of white space', { YOUTUBE_URI: 'https://www.googleapis.com', YOUTUBE_API_KEY: ' \n' }, /YOUTUBE_API_KEY/],
  ])('refuse %s with one line', async (_, env, words) => {
    const { code, output } = await startProcess(env)
    expect(code).toBe(1)
    expect(output.trim().split('\n')).toHaveLength(1)
    expect(output).toMatch(words)
  })
})
