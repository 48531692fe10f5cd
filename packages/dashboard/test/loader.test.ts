import { ServiceError } from '@influencer-stats/runtime/service-error'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Loader } from '../src/page/loader.ts'

const MAX_READ_MS = 30_000
const RETRY_MS = 10_000
const GONE_ERROR = new ServiceError(410, 'LINK_EXPIRED')
const UNAVAILABLE_ERROR = new ServiceError(503, 'SERVICE_UNREACHABLE')

/** Starts a loader whose reads wait for the test. */
function startLoader() {
  const reads: PromiseWithResolvers<string>[] = []
  const errors: unknown[] = []
  const loader = new Loader(() => {
    const read = Promise.withResolvers<string>()
    reads.push(read)
    return read.promise
  })
  const stop = loader.start((error) => void (error !== undefined && errors.push(error)))
  loader.reload()
  /** Ends a read, the first being 0. */
  async function reply(index: number, result: string | Error): Promise<void> {
    if (typeof result === 'string') reads[index]!.resolve(result)
    else reads[index]!.reject(result)
    await vi.advanceTimersByTimeAsync(0)
  }
  return { loader, reads, errors, stop, reply, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) }
}

describe('a loader', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
  })

  it('reads again after a read in progress, once for several reloads', async () => {
    const { loader, reads, reply } = startLoader()
    for (let i = 0; i < 3; i++) loader.reload()
    expect(reads.length).toBe(1)
    await reply(0, 'a')
    expect([reads.length, loader.state]).toEqual([2, { value: 'a', isLoading: true }])
    await reply(1, 'b')
    expect([reads.length, loader.state]).toEqual([2, { value: 'b', isLoading: false }])
  })

  it('keeps the value and the error of a failed read during the next one, and repeats the read', async () => {
    const { loader, reads, errors, reply, pass } = startLoader()
    await reply(0, 'a')
    loader.reload()
    loader.reload()
    await reply(1, UNAVAILABLE_ERROR)
    expect([reads.length, loader.state]).toEqual([3, { value: 'a', error: UNAVAILABLE_ERROR, isLoading: true }])
    await reply(2, UNAVAILABLE_ERROR)
    await pass(RETRY_MS)
    expect([reads.length, loader.state]).toEqual([4, { value: 'a', error: UNAVAILABLE_ERROR, isLoading: true }])
    await reply(3, 'b')
    expect(loader.state).toEqual({ value: 'b', isLoading: false })
    expect(errors).toEqual([UNAVAILABLE_ERROR, UNAVAILABLE_ERROR])
    await pass(10 * RETRY_MS)
    expect(reads.length).toBe(4)
  })

  it('fails a read without a reply in time, and uses its late reply unless a newer one is there', async () => {
    const { loader, reads, reply, pass } = startLoader()
    await pass(MAX_READ_MS)
    expect(loader.state).toEqual({ error: expect.any(Error), isLoading: false })
    await pass(RETRY_MS)
    await reply(0, 'late')
    expect([reads.length, loader.state]).toEqual([2, { value: 'late', isLoading: true }])
    await pass(MAX_READ_MS)
    expect(loader.state).toEqual({ value: 'late', error: expect.any(Error), isLoading: false })
    await pass(RETRY_MS)
    await reply(2, 'newest')
    await reply(1, 'too late')
    expect(loader.state).toEqual({ value: 'newest', isLoading: false })
  })

  it('runs the reload that a read without a reply delayed', async () => {
    const { loader, reads, pass } = startLoader()
    loader.reload()
    await pass(MAX_READ_MS)
    expect(reads.length).toBe(2)
  })

  it('has no value after a 410, and its error until a read succeeds', async () => {
    const { loader, reads, reply, pass } = startLoader()
    await reply(0, 'a')
    for (const error of [GONE_ERROR, UNAVAILABLE_ERROR, new TypeError('failed to fetch')]) {
      loader.reload()
      await reply(reads.length - 1, error)
      expect(loader.state).toEqual({ error: GONE_ERROR, isLoading: false })
    }
    loader.reload()
    await pass(MAX_READ_MS)
    expect(loader.state).toEqual({ error: GONE_ERROR, isLoading: false })
    await pass(RETRY_MS)
    await reply(reads.length - 1, 'b')
    expect(loader.state).toEqual({ value: 'b', isLoading: false })
  })

  it('ignores a late value of a read before a 410', async () => {
    const { loader, reads, reply, pass } = startLoader()
    await pass(MAX_READ_MS + RETRY_MS)
    await reply(1, GONE_ERROR)
    await reply(0, 'late')
    expect([reads.length, loader.state]).toEqual([2, { error: GONE_ERROR, isLoading: false }])
  })

  it('neither reads nor changes once it has stopped', async () => {
    const { loader, reads, errors, stop, reply, pass } = startLoader()
    stop()
    await reply(0, UNAVAILABLE_ERROR)
    loader.reload()
    await pass(MAX_READ_MS + RETRY_MS)
    expect([reads.length, errors, loader.state]).toEqual([1, [], { isLoading: true }])
  })
})
