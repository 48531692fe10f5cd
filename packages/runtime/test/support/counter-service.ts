import { beforeAll, expect, onTestFinished } from 'vitest'
import { embed, type Overrides } from '../../src/supervisor/embed.ts'
import type { RunningService } from '../../src/supervisor/service-host.ts'
import { PROBLEM_TYPE } from '../../src/errors/problems.ts'
import { counter } from '../fixtures/services.ts'
import { sendRawRequest, formatRequest, type RawReply, type RawRequestHeaders } from './raw-client.ts'

/** The module from which threads load the fixtures. */
export const SERVICES_URL = new URL('../fixtures/services.ts', import.meta.url).href

export interface RunningCounter extends RunningService {
  readonly port: number
  /** Sends one request on a new connection. */
  request(method: string, path: string, headers?: RawRequestHeaders, body?: string): Promise<RawReply>
}

/** Runs the counter in this process, on the main thread unless `threads` is set. It stops when the test ends. */
export async function startCounter(overrides: Overrides = {}): Promise<RunningCounter> {
  const running = await launchCounter(overrides)
  onTestFinished(async () => void (await running.stop()))
  return running
}

/** Like `startCounter`, for all tests of a file or of a `describe`. Tests must not use the result before they run. */
export function useCounter(overrides: Overrides = {}): RunningCounter {
  const shared = {} as RunningCounter
  beforeAll(async () => {
    Object.assign(shared, await launchCounter(overrides))
    return async () => void (await shared.stop())
  })
  return shared
}

async function launchCounter(overrides: Overrides): Promise<RunningCounter> {
  const running = await embed(counter, overrides, SERVICES_URL)
  const port = Number(new URL(running.url).port)
  return {
    ...running,
    port,
    request: (method, path, headers, body) =>
      sendRawRequest(port, formatRequest(method, path, { connection: 'close', ...headers }, body)),
  }
}

/** Fails unless a reply is a problem with this status and code. @returns its body */
export function expectProblem(reply: RawReply, status: number, code: string): Record<string, unknown> {
  expect({ status: reply.status, type: reply.headers['content-type'] }).toEqual({ status, type: PROBLEM_TYPE })
  const body = JSON.parse(reply.body)
  expect(body).toMatchObject({ type: `urn:influencer-stats:problem:${code}`, title: expect.any(String), status, code })
  return body
}
