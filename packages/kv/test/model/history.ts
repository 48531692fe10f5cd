import { Difference } from './difference.ts'

/** Write of the test, with the ETag of its values once known. All values of one batch have the same ETag. */
export interface WriteIdentity {
  readonly label: string
  etag?: string
}

/**
 * ETags of one database, including its copies and restored backups. No ETag belongs to two writes, so that a condition holds
 * only for the write that a client read.
 */
export class EtagHistory {
  readonly #writes = new Map<string, WriteIdentity>()
  #next = 0

  createWrite(label: string): WriteIdentity {
    return { label: `write ${++this.#next} (${label})` }
  }

  /** Returns the write with this ETag, if the test has seen it. */
  find(etag: string): WriteIdentity | undefined {
    return this.#writes.get(etag)
  }

  /** Records the ETag that a reply had for a write. @throws Difference if either has another one */
  recordEtag(write: WriteIdentity, etag: string | undefined): void {
    if (etag === undefined || !/^"[^"]+"$/.test(etag)) throw new Difference(`${write.label}: no ETag but ${etag}`)
    if (write.etag === etag) return
    if (write.etag !== undefined) throw new Difference(`${write.label}: its ETag was ${write.etag}, is ${etag}`)
    const other = this.#writes.get(etag)
    if (other) throw new Difference(`ETag ${etag} of ${write.label} is that of ${other.label}: ETags never repeat`)
    write.etag = etag
    this.#writes.set(etag, write)
  }
}
