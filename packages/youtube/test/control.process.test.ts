import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { createControl } from '../src/client.ts'
import { readError, startStandIn, type StandIn } from './support/stand-in.ts'

const getRejectionCode = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => (error instanceof ServiceError ? [error.status, error.code] : error),
  )

describe('control', () => {
  let standIn: StandIn
  afterEach(() => standIn.stop())

  it('returns the active faults, and ends them', async () => {
    standIn = await startStandIn()
    expect(await standIn.control.getFaults()).toEqual({})
    const faults = { latencyMs: 5, errorRate: 0.5, errorStatus: 500, errorReason: 'internalError', quotaLeft: 7 }
    await standIn.control.setFaults(faults)
    expect(await standIn.control.getFaults()).toEqual(faults)
    await standIn.control.setFaults({ malformed: true })
    expect(await standIn.control.getFaults()).toEqual({ malformed: true })
    await standIn.control.clearFaults()
    expect(await standIn.control.getFaults()).toEqual({})
  })

  it('needs the token for changes, if there is one', async () => {
    standIn = await startStandIn({ apiToken: 'secret' })
    expect(await getRejectionCode(standIn.control.setFaults({ hang: true }))).toEqual([401, 'UNAUTHORIZED'])
    expect(await getRejectionCode(standIn.control.freezeClock())).toEqual([401, 'UNAUTHORIZED'])
    expect(await getRejectionCode(standIn.control.resetCounts())).toEqual([401, 'UNAUTHORIZED'])
    const trusted = createControl(standIn.url, { token: 'secret' })
    await trusted.setFaults({ quotaLeft: 0 })
    // A key is enough for Google's API.
    expect(await readError(await standIn.get())).toMatchObject({ reason: 'quotaExceeded' })
  })
})

describe('control refuses', () => {
  let standIn: StandIn
  beforeAll(async () => {
    standIn = await startStandIn()
  })
  afterAll(() => standIn.stop())

  it.each([
    ['faults', { nope: 1 }],
    ['faults', { errorRate: 1.1 }],
    ['faults', { errorRate: '1' }],
    ['faults', { errorStatus: 200 }],
    ['faults', { errorReason: 'no spaces' }],
    ['faults', { cut: 'sometimes' }],
    ['faults', { quotaLeft: -1 }],
    ['faults', []],
    ['clock', { at: -1 }],
    ['clock', { at: '2026-01-01' }],
    ['clock', { when: 1 }],
  ])('%s %j', async (path, body) => {
    const reply = await fetch(`${standIn.url}/control/${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ code: 'VALIDATION_FAILED' })
    expect(await standIn.control.getFaults()).toEqual({})
  })
})

describe('quota', () => {
  let standIn: StandIn
  afterEach(() => standIn.stop())

  it('is the setting until a fault changes it', async () => {
    standIn = await startStandIn({ quota: 2 })
    const statuses = async () => [(await standIn.get()).status, (await standIn.get()).status]
    expect((await standIn.get({ key: 'wrong' })).status).toBe(400)
    expect(await statuses()).toEqual([200, 200])
    expect(await statuses()).toEqual([403, 403])
    await standIn.control.setFaults({ quotaLeft: 1 })
    expect(await statuses()).toEqual([200, 403])
    expect(await standIn.control.getFaults()).toEqual({ quotaLeft: 0 })
    await standIn.control.clearFaults()
    expect(await statuses()).toEqual([200, 200])
  })

  it('is also spent on invalid calls', async () => {
    standIn = await startStandIn({ quota: 1 })
    expect((await standIn.get({ part: 'nope' })).status).toBe(400)
    expect(await readError(await standIn.get())).toMatchObject({
      status: 403,
      reason: 'quotaExceeded',
      domain: 'youtube.quota',
    })
  })
})
