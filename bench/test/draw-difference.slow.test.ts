import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { drawDifference, findBusiestProfile } from '../src/guard/draw-difference.ts'
import type { GuardRow } from '../src/guard/guard-rows.ts'
import { spawnServer } from '../src/processes.ts'
import { createRequestRound } from '../src/rounds/request-round.ts'
import type { BenchTarget } from '../src/targets/target.ts'

/** A server on a thread, as services have it. V8 would count an inlined function for its caller, but inlines no generator. */
const createServerScript = (plant: string) => `
import { createServer } from 'node:http'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
let checksum = 0
function* plantedWork() {
  for (let i = 0; i < 200_000; i++) checksum = (checksum * 31 + i) % 65_521
  yield checksum
}
if (isMainThread) {
  const worker = new Worker(import.meta.filename)
  worker.on('message', (port) => console.log(port))
  process.on('SIGTERM', () => worker.postMessage('stop'))
} else {
  const server = createServer((_request, response) => {
    ${plant}
    response.end(JSON.stringify(Array.from({ length: 200 }, (_, i) => 'row ' + i)))
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
  parentPort.on('message', () => {
    server.close().closeAllConnections()
    parentPort.close()
  })
}
`

/** A checkout with a server alone. */
function createCheckout(plant: string): string {
  const folder = join(createTemporaryFolder(), 'checkout')
  mkdirSync(join(folder, 'packages'), { recursive: true })
  writeFileSync(join(folder, 'packages', 'server.mjs'), createServerScript(plant))
  return folder
}

const target: BenchTarget = {
  name: 'a server with one route',
  async start(checkout, env) {
    const script = join(checkout!, 'packages', 'server.mjs')
    const { child, stop } = spawnServer(undefined, process.execPath, [script], env)
    const [port] = await once(child.stdout!, 'data')
    return { url: `http://127.0.0.1:${Number(port)}`, pid: child.pid!, stop }
  },
}

const row: GuardRow = {
  name: 'planted',
  row: {
    name: 'planted',
    target,
    ...createRequestRound({
      says: '4 connections that read one reply',
      requests: [{ method: 'GET', path: '/' }],
      expect: { status: 200, includes: 'row 7' },
      connections: 4,
    }),
  },
}

describe('the difference of a row that regressed', () => {
  it('names the function that only this checkout calls, and writes a page', { timeout: 120_000 }, async () => {
    const file = join(createTemporaryFolder(), 'below', 'planted.html')
    const checkouts = [createCheckout('plantedWork().next()'), createCheckout('')]
    const [page, totals, first, ...more] = await drawDifference(row, checkouts, file, { duration: 1.5, warmUp: 0.5 })
    expect(page).toBe(file)
    expect(totals).toContain('us per request; base ')
    expect(first).toMatch(/^\+\d.* {2}plantedWork {2}packages\/server\.mjs:5$/)
    expect(more.length).toBeLessThanOrEqual(4)
    const [, base64 = ''] = /id="data">(.*)</.exec(readFileSync(file, 'utf8'))!
    const graph = String(gunzipSync(Buffer.from(base64, 'base64')))
    expect(JSON.parse(graph).name).toBe('planted: CPU of this checkout and of the base')
    for (const checkout of checkouts) expect(graph).not.toContain(checkout)
  })

  it('does not exist for a metric that the profile does not explain', async () => {
    const file = join(createTemporaryFolder(), 'memory.html')
    await expect(drawDifference({ ...row, isProfiled: false }, ['', ''], file)).rejects.toThrow('does not explain')
    expect(existsSync(file)).toBe(false)
  })
})

describe('the profile of a process', () => {
  const idle = { id: 1, callFrame: { functionName: '(idle)' } }
  const work = { id: 2, callFrame: { functionName: 'work' } }
  const createProfile = (samples: readonly number[]) =>
    JSON.stringify({ nodes: [idle, work], samples, timeDeltas: samples.map(() => 10), startTime: 100 })

  it('is that of its thread with the largest number of samples with work in the time of the load', () => {
    const folder = createTemporaryFolder()
    const write = (name: string, samples: readonly number[]) =>
      writeFileSync(join(folder, `CPU.20260101.000000.${name}.001.cpuprofile`), createProfile(samples))
    write('7.0', [2, 2, 2, 2, 1, 1, 1, 2])
    write('7.1', [1, 1, 1, 1, 2, 2, 2, 1])
    write('8.0', [2, 2, 2, 2, 2, 2, 2, 2])
    expect(findBusiestProfile(folder, 7, 141, 170)).toMatch(/\.7\.1\.001\.cpuprofile$/)
    expect(findBusiestProfile(folder, 7, 100, 140)).toMatch(/\.7\.0\.001\.cpuprofile$/)
    expect(() => findBusiestProfile(folder, 9, 100, 140)).toThrow('process 9')
  })
})
