import { until } from '@influencer-stats/runtime/testing/until'
import { expect } from 'vitest'
import { answerOf } from '../ready.ts'

// What is asked of nodes while something is wrong: of kv, but for `refusal`.

/** How old a node says that what it reads is (s). */
export async function ageOf(url: string): Promise<number> {
  const { headers } = await fetch(`${url}/v0/entity?id=counter/0`)
  return Number(headers.get('age'))
}

const write = (url: string, id: string) =>
  fetch(`${url}/v0/entity?id=${id}`, { method: 'PUT', body: 'x', headers: { 'content-type': 'text/plain' } })

/** Resolves once a node takes a write. */
export const takesWrites = (url: string): Promise<true> =>
  until(() =>
    write(url, 'taken').then(
      ({ status }) => status === 201,
      () => false,
    ),
  )

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly retryAfter: string | null
}

/** What a change is answered with for want of the log. */
export const REFUSED = {
  status: 503,
  code: expect.stringMatching(/^(LOG_UNAVAILABLE|OUTCOME_UNKNOWN)$/),
  retryAfter: '1',
}

/** What a node of kv answers to a change that it cannot make. @param code the one that is waited for, by default any */
export const refusalOf = (url: string, code?: string): Promise<Refusal> => refusal(() => write(url, 'refused'), code)

/** What a change is answered with once it is refused. */
export async function refusal(change: () => Promise<Response>, code?: string): Promise<Refusal> {
  return until(async () => {
    const reply = await change()
    if (reply.ok) return undefined
    const said = (await reply.json()) as { code: string }
    if (code && said.code !== code) return undefined
    return { status: reply.status, code: said.code, retryAfter: reply.headers.get('retry-after') }
  })
}

/** Whether a node reads at all. */
export async function reads(url: string): Promise<boolean> {
  return (await answerOf(`${url}/v0/entities?start=%00&limit=1`)) !== undefined
}
