import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect } from 'vitest'
import { getReply } from '../ready.ts'

// What is asked of nodes while something is wrong: of kv, but for `refusal`.

/** How old a node says that what it reads is (s). */
export async function getAge(url: string): Promise<number> {
  const { headers } = await fetch(`${url}/v0/entity?id=counter/0`)
  return Number(headers.get('age'))
}

const write = (url: string, id: string) =>
  fetch(`${url}/v0/entity?id=${id}`, { method: 'PUT', body: 'x', headers: { 'content-type': 'text/plain' } })

/** Resolves once a node takes a write. */
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

/** What a change is answered with for want of the log. */
export const REFUSED_REPLY = {
  status: 503,
  code: expect.stringMatching(/^(LOG_UNAVAILABLE|OUTCOME_UNKNOWN)$/),
  retryAfter: '1',
}

/** What a node of kv answers to a change that it cannot make. @param code the one that is waited for, by default any */
export const getKvRefusal = (url: string, code?: string): Promise<WriteRefusal> =>
  waitForRefusal(() => write(url, 'refused'), code)

/** What a change is answered with once it is refused. */
export async function waitForRefusal(change: () => Promise<Response>, code?: string): Promise<WriteRefusal> {
  return waitUntil(async () => {
    const reply = await change()
    if (reply.ok) return undefined
    const said = (await reply.json()) as { code: string }
    if (code && said.code !== code) return undefined
    return { status: reply.status, code: said.code, retryAfter: reply.headers.get('retry-after') }
  })
}

/** Whether a node reads at all. */
export async function canRead(url: string): Promise<boolean> {
  return (await getReply(`${url}/v0/entities?start=%00&limit=1`)) !== undefined
}
