import type { Running } from '@influencer-stats/bench/contenders/contender'
import type { LoadRequest } from '@influencer-stats/bench/load/load'
import type { Row } from '@influencer-stats/bench/row'
import { underLoad } from '../load.ts'
import type { Workload } from '../workloads.ts'

const CONNECTIONS = 64
const ENTITIES = 20_000
const OCTETS = { 'content-type': 'application/octet-stream' }

/** Numbers from 0 to 1, the same in every run (a linear congruential generator, as in Numerical Recipes). */
function numbers(seed: number): () => number {
  let state = seed
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
}

/** Ids of 3 to 10 characters and values of 100 to 200 bytes. */
function entities(): { id: string; value: string }[] {
  const next = numbers(1)
  const word = (length: number) => Array.from({ length }, () => Math.floor(next() * 36).toString(36)).join('')
  return Array.from({ length: ENTITIES }, () => ({
    id: word(3 + Math.floor(next() * 8)),
    value: word(100 + Math.floor(next() * 101)),
  }))
}

const path = (id: string) => `/v0/entity?id=${id}`
const load = (status: number, requests: LoadRequest[]): Row['load'] => {
  return { requests, expect: { status }, connections: CONNECTIONS }
}

/** Every request puts another entity; each comes again after 20,000. */
export const put: Workload = {
  says: `under ${CONNECTIONS} connections that put 20,000 entities in turn`,
  during({ url }, seconds, work) {
    const requests = entities().map(({ id, value }) => ({
      method: 'PUT',
      path: path(id),
      headers: OCTETS,
      body: value,
    }))
    return underLoad(url, load(201, requests), seconds, work)
  },
}

async function fill({ url }: Running): Promise<void> {
  const lines = entities().map(({ id, value }) => JSON.stringify({ op: 'put', id, value }))
  const reply = await fetch(`${url}/v0/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.join('\n'),
  })
  if (!reply.ok) throw new Error(`the base could not be filled: ${reply.status}`)
}

export const get: Workload = {
  says: `under ${CONNECTIONS} connections that get 20,000 entities in turn`,
  prepare: fill,
  during({ url }, seconds, work) {
    const requests = entities().map(({ id }) => ({ method: 'GET', path: path(id) }))
    return underLoad(url, load(200, requests), seconds, work)
  },
}
