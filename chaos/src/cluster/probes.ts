import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect } from 'vitest'
import { getReply } from '../ready.ts'

// Requests to nodes during faults. Except for `waitForRefusal`, the nodes are those of kv.

/** Returns the age of a node's data, as the node reports it (s). */
export async function getAge(url: string): Promise<number> {
  const { headers } = await fetch(`${url}/v0/entity?id=counter/0`)
  return Number(headers.get('age'))
}

const write = (url: string, id: string) =>
  fetch(`${url}/v0/entity?id=${id}`, { method: 'PUT', body: 'x', headers: { 'content-type': 'text/plain' } })

/** Resolves once a node accepts a write. */
export const waitForWrite = (url: string): Promise<true> =>
  waitUntil(() =>
    write(url, 'taken').then(
      ({ status }) => status === 201,
      () => false,
    ),
  )

/** The reply to a refused write. */
export interface WriteRefusal {
  readonly status: number
  readonly code: string
  readonly retryAfter: string | null
}

/** Expected reply to a write while the log is unavailable. */
export const REFUSED_REPLY = {
  status: 503,
  code: expect.stringMatching(/^(LOG_UNAVAILABLE|OUTCOME_UNKNOWN)$/),
  retryAfter: '1',
}

/** Waits until a node of kv refuses a write. @param code the expected code; by default any */
export const getKvRefusal = (url: string, code?: string): Promise<WriteRefusal> =>
  waitForRefusal(() => write(url, 'refused'), code)

/** Repeats a write until it is refused. @param code the expected code; by default any */
export async function waitForRefusal(change: () => Promise<Response>, code?: string): Promise<WriteRefusal> {
  return waitUntil(async () => {
    const reply = await change()
    if (reply.ok) return undefined
    const problem = (await reply.json()) as { code: string }
    if (code && problem.code !== code) return undefined
    return { status: reply.status, code: problem.code, retryAfter: reply.headers.get('retry-after') }
  })
}

/** True if a node serves reads. */
export async function canRead(url: string): Promise<boolean> {
  return (await getReply(`${url}/v0/entities?start=%00&limit=1`)) !== undefined
}
