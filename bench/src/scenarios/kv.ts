import { bareContender } from '../contenders/bare.ts'
import type { Contender, Running } from '../contenders/contender.ts'
import { kvContender } from '../contenders/kv.ts'
import { FULL, SMALL, valueOf } from '../load/requests/kv-entries.ts'
import type { Row } from '../row.ts'
import type { Spec } from '../spec.ts'
import { trialScenarios } from './kv-trials.ts'
import type { Scenario } from './scenario.ts'

export { trialScenarios }

const spec = (variant = ''): Spec => ({ service: 'kv', variant, settings: {} })

// The same replies as the service's, header by header.
const BARE_GET = {
  status: 200,
  headers: {
    'x-request-id': 'abcdef-12345',
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    etag: '"XWzQ3mAB"',
    'content-length': '150',
  },
  body: valueOf(0).repeat(2).slice(0, 150),
}
const BARE_PUT = {
  status: 201,
  headers: { 'x-request-id': 'abcdef-12345', etag: '"XWzQ3mAB"', 'content-length': '0' },
  body: '',
}

async function ask(url: string, id: string | number, body?: string): Promise<string> {
  const reply = await fetch(`${url}/v0/entity?id=${id}`, body === undefined ? {} : { method: 'PUT', body })
  if (!reply.ok) throw new Error(`id ${id} was answered ${reply.status}`)
  return reply.text()
}

/** Proves that a base has what it should. */
export const proveReads =
  (entries: number) =>
  async ({ url }: Running): Promise<void> => {
    for (const id of [0, entries >> 1, entries - 1]) {
      if ((await ask(url, id)) !== valueOf(id)) throw new Error(`the value of ${id} is wrong`)
    }
  }

/** Proves that what was put is there. */
export async function proveWrites({ url }: Running): Promise<void> {
  await ask(url, 'a', 'proof')
  if ((await ask(url, 'a')) !== 'proof') throw new Error('what was put is not there')
}

export const reads = (name: string, connections: number, entries = FULL): Row => ({
  name,
  contender: kvContender(spec(), entries),
  prepare: proveReads(entries),
  load: { requests: { drawer: entries === FULL ? 'kv-get' : 'kv-get-small' }, expect: { status: 200 }, connections },
  source: entries === FULL && connections === 1 ? 200 : undefined,
})

export const writes = (
  name: string,
  contender: Contender,
  connections: number,
  drawer = 'kv-put',
  source?: number,
): Row => {
  return {
    name,
    contender,
    prepare: proveWrites,
    load: { requests: { drawer }, expect: { status: 201 }, connections },
    source,
  }
}

export const bareReads = (name: string, connections: number): Row => ({
  name,
  contender: bareContender(BARE_GET),
  prepare: async () => {},
  load: { requests: { drawer: 'kv-get-constant' }, expect: { status: 200, body: BARE_GET.body }, connections },
})

export const bareWrites = (name: string, connections: number): Row => ({
  ...writes(name, bareContender(BARE_PUT), connections),
  prepare: async () => {},
})

const full = (variant?: string) => kvContender(spec(variant), FULL)

const entity: Scenario = {
  service: 'kv',
  name: 'entity',
  title: 'A base of 1.5 million entries of 100-200 bytes, random ids, 64 connections, one serving thread',
  full: false,
  generator: 'raw',
  steps: [
    ['GET', 'bare GET'],
    ['PUT', 'bare PUT'],
    ['durable PUT', 'bare PUT'],
    ['PUT', 'PUT one by one (v2)'],
    ['GET, 1 connection', 'bare GET, 1 connection'],
  ],
  row: (asked) => writes(asked.variant || 'default', kvContender(asked, FULL), 64),
  rows: async () => [
    reads('GET', 64),
    writes('PUT', full(), 64),
    writes('durable PUT', full(), 64, 'kv-put-durable'),
    writes('PUT one by one (v2)', full('v2'), 64),
    bareReads('bare GET', 64),
    bareWrites('bare PUT', 64),
    reads('GET, 1 connection', 1),
    writes('PUT, 1 connection', full(), 1, 'kv-put', 4_000),
    bareReads('bare GET, 1 connection', 1),
  ],
}

const bases: Scenario = {
  service: 'kv',
  name: 'bases',
  title: 'A full base of 1.5 million entries against an empty one (reads: one of 1,000), 64 connections',
  full: true,
  generator: 'raw',
  steps: [
    ['GET, full base', 'GET, base of 1,000'],
    ['PUT, full base', 'PUT, empty base'],
  ],
  rows: async () => [
    reads('GET, full base', 64),
    reads('GET, base of 1,000', 64, SMALL),
    writes('PUT, full base', full(), 64),
    writes('PUT, empty base', kvContender(spec(), 0), 64),
  ],
}

export const scenarios: readonly Scenario[] = [entity, bases]
