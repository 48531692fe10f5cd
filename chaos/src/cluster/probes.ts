import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect } from 'vitest'
import { getReply } from '../ready.ts'

// Requests to nodes during faults: to nodes of kv, except `refusal`.

/** Age of a node's data, as the node reports it (s). */
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

export interface WriteRefusal {
  readonly status: number
  readonly code: string
  readonly retryAfter: string | null
}

/** Reply to a change while the log is unavailable. */
export const REFUSED_REPLY = {
  status: 503,
  code: expect.stringMatching(/^(LOG_UNAVAILABLE|OUTCOME_UNKNOWN)$/),
  retryAfter: '1',
}

/** Reply of a kv node that refuses a change. @param code the expected code; by default any */
export const getKvRefusal = (url: string, code?: string): Promise<WriteRefusal> =>
  waitForRefusal(() => write(url, 'refused'), code)

/** Waits until a change is refused. @returns the reply */
export async function waitForRefusal(change: () => Promise<Response>, code?: string): Promise<WriteRefusal> {
  return waitUntil(async () => {
    const reply = await change()
    if (reply.ok) return undefined
    const said = (await reply.json()) as { code: string }
    if (code && said.code !== code) return undefined
    return { status: reply.status, code: said.code, retryAfter: reply.headers.get('retry-after') }
  })
}

/** True if a node serves reads. */
export async function canRead(url: string): Promise<boolean> {
  return (await getReply(`${url}/v0/entities?start=%00&limit=1`)) !== undefined
}
