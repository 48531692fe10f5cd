import { Objm, type ObjectInfo, type ObjectStore } from '@nats-io/obj'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { View } from '../log.ts'
import { epochOf, RETRY_EVERY } from './check.ts'
import { fetchBatch } from './fetch.ts'

/** Snapshots of views, where all nodes find them. */
export interface Snapshots {
  /** Keeps one, and the one before it: nodes may be reading that. Resolves with its place. */
  save(view: View): Promise<number>
  /** The place of the newest one; nothing where there is none of this log. */
  newest(): Promise<number | undefined>
  /** Puts the newest one into a view. */
  load(view: View): Promise<void>
}

// A piece of a snapshot is a message.
const CHUNK = 128 * 1_024
/** So much of one is asked for at a time (bytes): what is pushed whole stands before the answers by which a connection is known to live. */
const AT_ONCE = 4 * 1_024 * 1_024
/** Pieces are asked for again for so long (ms): another leader is chosen within 9 s. */
const STALLED_AFTER = 15_000

export function createSnapshots(
  nc: NatsConnection,
  jsm: JetStreamManager,
  stream: string,
  info: StreamInfo,
  stalledAfter = STALLED_AFTER,
): Snapshots {
  const store = `${stream}-snapshots`
  const objects = `OBJ_${store}`
  const { num_replicas: replicas } = info.config
  // One that was made of another log is none.
  const prefix = `${epochOf(info)}/`
  let opened: Promise<ObjectStore> | undefined
  const open = () =>
    (opened ??= new Objm(nc).create(store, { replicas }).catch((error) => {
      opened = undefined
      throw error
    }))

  /** What there is and what there was, by the subject that tells of it. The client's own list leaves a consumer behind, for minutes. */
  async function all(): Promise<(readonly [subject: string, object: ObjectInfo])[]> {
    await open()
    const { state } = await jsm.streams.info(objects, { subjects_filter: `$O.${store}.M.>` })
    const told = Object.keys(state.subjects ?? {}).map(async (subject) => {
      const message = await jsm.streams.getMessage(objects, { last_by_subj: subject })
      return message ? ([[subject, message.json<ObjectInfo>()]] as const) : []
    })
    return (await Promise.all(told)).flat()
  }

  /** Of this log, the newest first. */
  const placesIn = (told: Awaited<ReturnType<typeof all>>) =>
    told
      .filter(([, { name, deleted }]) => !deleted && name.startsWith(prefix))
      .map(([, { name }]) => Number(name.slice(prefix.length)))
      .toSorted((a, b) => b - a)

  /** Deletes those before the one before `seq`, and those of other logs. That they are deleted is told until the next time. */
  async function clear(bucket: ObjectStore, seq: number): Promise<void> {
    const told = await all()
    const first = placesIn(told).find((one) => one < seq) ?? 0
    for (const [subject, { name, deleted }] of told) {
      if (deleted) await jsm.streams.purge(objects, { filter: subject })
      else if (!name.startsWith(prefix) || Number(name.slice(prefix.length)) < first) await bucket.delete(name)
    }
  }

  /** @throws Error where one is not all there, or deleted meanwhile */
  async function* piecesOf(bucket: ObjectStore, { name, nuid, chunks, digest }: ObjectInfo): AsyncGenerator<Buffer> {
    const subject = `$O.${store}.C.${nuid}`
    const hash = createHash('sha256')
    let seq = 1
    let heardAt = performance.now()
    for (let left = chunks; left > 0;) {
      const now = await bucket.info(name)
      if (!now || now.deleted || now.nuid !== nuid) throw new Error('the snapshot is gone')
      const query = { seq, next_by_subj: subject, batch: left, max_bytes: AT_ONCE }
      const batch = await fetchBatch(jsm, objects, query)
      for (const { data } of batch) {
        hash.update(data)
        yield data
      }
      left -= batch.length
      if (batch.length > 0) {
        seq = batch.at(-1)!.seq + 1
        heardAt = performance.now()
      } else if (performance.now() - heardAt > stalledAfter) throw new Error('nothing more comes of the snapshot')
      else await delay(RETRY_EVERY)
    }
    // Padded there.
    if (!digest.startsWith(`SHA-256=${hash.digest('base64url')}`)) throw new Error('the snapshot is damaged')
  }

  return {
    async save(view) {
      const bucket = await open()
      // It may be of a later place by the time that it is taken: it says so itself.
      const seq = view.position()?.seq ?? 0
      const data = ReadableStream.from(view.snapshot()) as ReadableStream<Uint8Array>
      await bucket.put({ name: prefix + seq, options: { max_chunk_size: CHUNK } }, data, { timeout: 600_000 })
      await clear(bucket, seq)
      return seq
    },
    async newest() {
      return placesIn(await all())[0]
    },
    async load(view) {
      const bucket = await open()
      for (;;) {
        const [seq] = placesIn(await all())
        if (seq === undefined) throw new Error('there is no snapshot')
        const found = await bucket.info(prefix + seq)
        if (!found) continue
        try {
          return await view.restore(piecesOf(bucket, found))
        } catch (error) {
          // Others may have taken its place meanwhile.
          const [newest] = placesIn(await all())
          if (newest === seq && (await bucket.info(found.name))?.nuid === found.nuid) throw error
        }
      }
    },
  }
}
