import { Objm, type ObjectInfo, type ObjectStore } from '@nats-io/obj'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { StateMachine } from '../log.ts'
import { findStream } from './stream/stream.ts'
import { getEpoch, RETRY_INTERVAL_MS } from './stream/verify-stream.ts'
import { fetchBatch } from './fetch-batch.ts'

/** Snapshots of state machines, on the NATS servers. All nodes of a log share them. */
export interface SnapshotStore {
  /**
   * Saves a snapshot. The previous one remains, because nodes may be reading it. Resolves with the sequence of the new
   * one.
   */
  save(stateMachine: StateMachine): Promise<number>
  /** Saves the bytes of a snapshot at a sequence, like `save`. */
  saveChunks(seq: number, chunks: AsyncIterable<Buffer>): Promise<void>
  /** Returns the sequence of this log's newest snapshot; undefined if there is none. */
  getLatest(): Promise<number | undefined>
  /** Restores the newest snapshot into a state machine. @throws Error if there is none, or if it cannot be read */
  load(stateMachine: StateMachine): Promise<void>
}

// Each chunk of a snapshot is one message.
const CHUNK_BYTES = 128 * 1_024
/**
 * Maximum size of one fetch (bytes). A larger fetch would delay the server's replies to the client's pings too long,
 * and the client would disconnect (`connect-nats.ts`).
 */
const MAX_FETCH_BYTES = 4 * 1_024 * 1_024
/** Time without a chunk after which a load fails (ms). A leader election takes up to 9 s. */
const STALL_TIMEOUT_MS = 15_000

export function createSnapshotStore(
  nc: NatsConnection,
  jsm: JetStreamManager,
  stream: string,
  info: StreamInfo,
  stallTimeout = STALL_TIMEOUT_MS,
): SnapshotStore {
  const bucketName = `${stream}-snapshots`
  const objectStream = `OBJ_${bucketName}`
  const { num_replicas: replicas } = info.config
  // Snapshots of other logs have another prefix. Reads ignore them, and `save` deletes them.
  const prefix = `${getEpoch(info)}/`
  let bucketPromise: Promise<ObjectStore> | undefined
  const openBucket = () =>
    (bucketPromise ??= new Objm(nc).create(bucketName, { replicas }).catch((error) => {
      bucketPromise = undefined
      throw error
    }))

  /**
   * Lists present and deleted objects with the subject of their metadata. The client's own list function leaves a
   * consumer on the server for minutes.
   */
  async function listObjects(): Promise<(readonly [subject: string, object: ObjectInfo])[]> {
    const info = await findStream(jsm, objectStream, { subjects_filter: `$O.${bucketName}.M.>` })
    const listed = Object.keys(info?.state.subjects ?? {}).map(async (subject) => {
      const message = await jsm.streams.getMessage(objectStream, { last_by_subj: subject })
      return message ? ([[subject, message.json<ObjectInfo>()]] as const) : []
    })
    return (await Promise.all(listed)).flat()
  }

  /** Returns the sequences of this log's snapshots, newest first. */
  const toSequences = (listed: Awaited<ReturnType<typeof listObjects>>) =>
    listed
      .filter(([, { name, deleted }]) => !deleted && name.startsWith(prefix))
      .map(([, { name }]) => Number(name.slice(prefix.length)))
      .toSorted((a, b) => b - a)

  /**
   * Deletes the snapshots of other logs. Of this log's snapshots before `seq`, it deletes all but the newest. The
   * metadata of deleted snapshots remains until the next call purges it.
   */
  async function deleteOld(bucket: ObjectStore, seq: number): Promise<void> {
    const listed = await listObjects()
    const first = toSequences(listed).find((one) => one < seq) ?? 0
    for (const [subject, { name, deleted }] of listed) {
      if (deleted) await jsm.streams.purge(objectStream, { filter: subject })
      else if (!name.startsWith(prefix) || Number(name.slice(prefix.length)) < first) await bucket.delete(name)
    }
  }

  /**
   * Yields the content of a snapshot.
   * @throws Error if the snapshot is incomplete or damaged, or if a node deletes it meanwhile
   */
  async function* readChunks(bucket: ObjectStore, { name, nuid, chunks, digest }: ObjectInfo): AsyncGenerator<Buffer> {
    const subject = `$O.${bucketName}.C.${nuid}`
    const hash = createHash('sha256')
    let seq = 1
    let lastChunkAt = performance.now()
    for (let remaining = chunks; remaining > 0;) {
      const current = await bucket.info(name)
      if (!current || current.deleted || current.nuid !== nuid) throw new Error('the snapshot was deleted')
      const query = { seq, next_by_subj: subject, batch: remaining, max_bytes: MAX_FETCH_BYTES }
      const batch = await fetchBatch(jsm, objectStream, query)
      for (const { data } of batch) {
        hash.update(data)
        yield data
      }
      remaining -= batch.length
      if (batch.length > 0) {
        seq = batch.at(-1)!.seq + 1
        lastChunkAt = performance.now()
      } else if (performance.now() - lastChunkAt > stallTimeout) throw new Error('timeout while loading the snapshot')
      else await delay(RETRY_INTERVAL_MS)
    }
    // The stored digest ends with padding (`=`), which the computed one does not have.
    if (!digest.startsWith(`SHA-256=${hash.digest('base64url')}`)) throw new Error('the snapshot is damaged')
  }

  async function saveChunks(seq: number, chunks: AsyncIterable<Buffer>): Promise<void> {
    const bucket = await openBucket()
    const data = ReadableStream.from(chunks) as ReadableStream<Uint8Array>
    await bucket.put({ name: prefix + seq, options: { max_chunk_size: CHUNK_BYTES } }, data, { timeout: 600_000 })
    await deleteOld(bucket, seq)
  }

  return {
    async save(stateMachine) {
      await openBucket()
      // Entries may be applied before the snapshot begins. Then its position has a later sequence than its name.
      const seq = stateMachine.getPosition()?.seq ?? 0
      await saveChunks(seq, stateMachine.snapshot())
      return seq
    },
    saveChunks,
    async getLatest() {
      return toSequences(await listObjects())[0]
    },
    async load(stateMachine) {
      const bucket = await openBucket()
      for (;;) {
        const [seq] = toSequences(await listObjects())
        if (seq === undefined) throw new Error('no snapshot exists')
        const found = await bucket.info(prefix + seq)
        if (!found) continue
        try {
          return await stateMachine.restore(readChunks(bucket, found))
        } catch (error) {
          // A newer snapshot may have replaced this one meanwhile.
          const [latest] = toSequences(await listObjects())
          if (latest === seq && (await bucket.info(found.name))?.nuid === found.nuid) throw error
        }
      }
    },
  }
}
