import {
  isLinearizable,
  type RegisterCondition,
  type RegisterOperation,
  type RegisterValue,
} from '../support/linearizable.ts'
import type { ModelConnection, HttpReply } from './connection.ts'
import { Difference } from './difference.ts'
import type { EtagHistory, WriteIdentity } from './history.ts'
import { SHARED_SPACE } from './key-spaces.ts'
import type { ModelBatch, Conditions, ModelDelete, ModelPut } from './operations.ts'
import { parseCode } from './reply-match.ts'
import { parseEntries } from './range-reply.ts'
import { toRequest } from './requests.ts'
import type { SpaceClient } from './space-client.ts'

const [PREFIX] = SHARED_SPACE
const KEYS = ['1', 'é'.repeat(31), 'é'.repeat(40), '日'.repeat(341)].map((text) => PREFIX + text)
/** Two keys that only batches write, always both together. */
const PAIR_KEYS = [`${PREFIX}pair/1`, `${PREFIX}pair/2`] as const

/** Write of a value, with its send and reply times (ms, as `performance.now()`). */
export interface SharedWrite {
  readonly value: RegisterValue
  readonly calledAt: number
  returnedAt: number
  outcome: 'done' | 'refused' | 'unknown'
}

/** Keys that all clients read and write. One order must explain all of their operations. */
export class SharedKeys {
  readonly #history: EtagHistory
  /** Writes by value, which no two writes share. */
  readonly #writes = new Map<string, { readonly write: WriteIdentity; readonly call: SharedWrite }>()
  readonly #histories = new Map<string, RegisterOperation[]>()
  readonly #initial = new Map<string, RegisterValue>()
  #next = 0

  constructor(history: EtagHistory) {
    this.#history = history
  }

  /** Runs one random operation of a client. @throws Difference, ConnectionLost */
  async runStep(client: SpaceClient): Promise<void> {
    const { random } = client
    if (random.percent(20)) return this.#runPairStep(client)
    const key = random.pick(KEYS)
    const kind = random.below(10)
    if (kind < 3) {
      await this.#read(client, key)
      return
    }
    const found = kind < 7 ? await this.#read(client, key) : undefined
    const condition = this.#createCondition(found, kind)
    // Writes with one condition race on several connections, and so on several threads.
    const racers = random.percent(60) ? client.openConnections() : [client.getConnection()]
    await waitForAll(racers.map((connection) => this.#changeKey(client, key, condition, connection)))
  }

  async #changeKey(
    client: SpaceClient,
    key: string,
    [condition, conditions]: [RegisterCondition | undefined, Conditions],
    connection: ModelConnection,
  ): Promise<void> {
    if (client.random.percent(25)) {
      const operation = { type: 'delete', key, ...conditions } as const
      return this.#write(client, [key], undefined, operation, connection, condition)
    }
    const value = this.#newValue(client)
    const operation = { type: 'put', key, value: Buffer.from(value), ...conditions } as const
    return this.#write(client, [key], value, operation, connection, condition)
  }

  #newValue = (client: SpaceClient) => `${client.name}.${++this.#next}`

  #createCondition(found: HttpReply | undefined, kind: number): [RegisterCondition | undefined, Conditions] {
    if (kind === 7) return [{ noneMatch: '*' }, { ifNoneMatch: '*' }]
    if (kind === 8) return [{ match: '*' }, { ifMatch: '*' }]
    const tag = found?.headers.get('etag')
    if (found?.status !== 200 || tag === undefined) return [undefined, {}]
    return [{ match: found.body.toString() }, { ifMatch: [{ tag, isWeak: false }] }]
  }

  async #read(client: SpaceClient, key: string): Promise<HttpReply> {
    const calledAt = performance.now()
    const reply = await client.getConnection().send(toRequest({ type: 'get', key }, client.random))
    const found = reply.status === 404 ? undefined : reply.body.toString()
    if (reply.status !== 200 && reply.status !== 404) throw new Difference(`GET of ${key}: status ${reply.status}`)
    if (found !== undefined) {
      const known = this.#writes.get(found)
      if (!known) throw new Difference(`GET of ${key} found ${found}, which nobody wrote`)
      this.#history.recordEtag(known.write, reply.headers.get('etag'))
    }
    this.#add(key, { type: 'read', calledAt, returnedAt: performance.now(), found })
    return reply
  }

  async #write(
    client: SpaceClient,
    keys: readonly string[],
    value: RegisterValue,
    operation: ModelPut | ModelDelete | ModelBatch,
    connection = client.getConnection(),
    condition?: RegisterCondition,
  ): Promise<void> {
    const call: SharedWrite = { value, calledAt: performance.now(), returnedAt: Infinity, outcome: 'unknown' }
    const write = this.#history.createWrite(`shared ${operation.type} by ${client.name}`)
    if (value !== undefined) this.#writes.set(value, { write, call })
    try {
      const reply = await connection.send(toRequest(operation, client.random))
      call.outcome = toOutcome(reply, operation)
      if (reply.status === 201) this.#history.recordEtag(write, reply.headers.get('etag'))
      call.returnedAt = performance.now()
    } finally {
      for (const key of keys) {
        const { calledAt, returnedAt, outcome } = call
        this.#add(key, { type: 'write', calledAt, returnedAt, value, outcome, ...(condition && { condition }) })
      }
    }
  }

  async #runPairStep(client: SpaceClient): Promise<void> {
    if (client.random.percent(50)) {
      const value = this.#newValue(client)
      const lines = PAIR_KEYS.map((id) => ({ op: 'put', id, value: Buffer.from(value), isBase64: false }) as const)
      return this.#write(client, PAIR_KEYS, value, { type: 'batch', lines })
    }
    const range = { type: 'range', prefix: `${PREFIX}pair/`, output: 'ndjson' } as const
    const calledAt = performance.now()
    const reply = await client.getConnection().send(toRequest(range, client.random))
    if (reply.status !== 200) throw new Difference(`range of pairs: status ${reply.status}`)
    const returnedAt = performance.now()
    const listed = new Map(parseEntries(reply.body).map(({ key, value }) => [key, String(value)]))
    const [one, other] = PAIR_KEYS.map((key) => listed.get(key))
    if (one !== other) throw new Difference(`half of a batch: the pair is ${one} and ${other}`)
    for (const key of PAIR_KEYS) this.#add(key, { type: 'read', calledAt, returnedAt, found: listed.get(key) })
  }

  #add(key: string, operation: RegisterOperation): void {
    if (!this.#histories.has(key)) this.#histories.set(key, [])
    this.#histories.get(key)!.push(operation)
  }

  /** Reads each key and checks all operations since the last call. @throws Difference */
  async finish(client: SpaceClient): Promise<void> {
    for (const key of [...KEYS, ...PAIR_KEYS]) {
      await this.#read(client, key)
      const history = this.#histories.get(key)!
      if (!isLinearizable(history, this.#initial.get(key)))
        throw new Difference(`no order explains what clients did to ${key}:\n${showHistory(history)}`)
      const last = history.at(-1)!
      this.#initial.set(key, last.type === 'read' ? last.found : undefined)
    }
    this.#histories.clear()
  }

  /** Starts over with another database: reads its values and takes them as the initial ones. */
  async restart(client: SpaceClient): Promise<void> {
    this.#histories.clear()
    for (const key of [...KEYS, ...PAIR_KEYS]) {
      const { status, body } = await this.#read(client, key)
      this.#initial.set(key, status === 200 ? body.toString() : undefined)
    }
    this.#histories.clear()
    if (this.#initial.get(PAIR_KEYS[0]) !== this.#initial.get(PAIR_KEYS[1]))
      throw new Difference('half of a batch was restored')
  }

  /** Returns the writes of values that clients sent at or after `since`, by value. */
  listWritesSince(since: number): ReadonlyMap<string, SharedWrite> {
    const writes = new Map<string, SharedWrite>()
    for (const [value, { call }] of this.#writes) if (call.calledAt >= since) writes.set(value, call)
    return writes
  }
}

/** Waits for all promises. @throws as the first that failed */
async function waitForAll(all: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(all)
  await Promise.all(all)
}

const SUCCESS_STATUSES = { put: 201, delete: 202, batch: 200 } as const

function toOutcome({ status, body }: HttpReply, { type }: ModelPut | ModelDelete | ModelBatch): 'done' | 'refused' {
  const expected = SUCCESS_STATUSES[type]
  if (status === expected) return 'done'
  if (status === 412 && parseCode(body) === 'CONDITION_FAILED') return 'refused'
  throw new Difference(`shared ${type}: status ${status} ${body.toString()}`)
}

const showHistory = (history: readonly RegisterOperation[]): string =>
  history
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .map((operation) => `  ${JSON.stringify(operation)}`)
    .join('\n')
