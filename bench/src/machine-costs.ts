import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { computeMedian } from './statistics.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

/** Costs of a machine that explain most differences between the results of two machines. Medians of several rounds. */
export interface MachineCosts {
  /** Writing a byte to `/dev/null` (us): a system call without work, and the overhead of Node. */
  readonly systemCallUs: number
  /** Waking a sleeping thread (us). */
  readonly wakeUpUs: number
  /** Writing 4 KiB to a file and syncing it to disk (us). */
  readonly syncUs: number
  /** Reading a random word of 64 MiB, which the caches do not hold (ns). */
  readonly memoryReadNs: number
}

const ROUNDS = 7
const SYSTEM_CALLS = 20_000
const WAKE_UPS = 1_000
const SYNCS = 20
const SYNCED_BYTES = 4_096
const MEMORY_WORDS = 2 ** 24
const MEMORY_READS = 400_000

/** Returns the median time of a step (us). @param steps number of steps that `round` makes */
function measureRounds(steps: number, round: () => void): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now()
    round()
    return ((performance.now() - start) * 1_000) / steps
  })
  return computeMedian(times)
}

function measureSystemCall(): number {
  const file = openSync('/dev/null', 'w')
  const byte = Buffer.alloc(1)
  try {
    return measureRounds(SYSTEM_CALLS, () => {
      for (let i = 0; i < SYSTEM_CALLS; i++) writeSync(file, byte)
    })
  } finally {
    closeSync(file)
  }
}

/** Runs on the other thread. Returns each turn: waits for an odd number and makes it even. */
const PARTNER = `
  const { workerData: turn, parentPort } = require('node:worker_threads')
  parentPort.postMessage('ready')
  for (let n = 1; ; n += 2) {
    while (Atomics.load(turn, 0) < n) Atomics.wait(turn, 0, n - 1)
    Atomics.add(turn, 0, 1)
    Atomics.notify(turn, 0)
  }`

/** Two threads pass a turn to each other: a round trip is two wake-ups. */
async function measureWakeUp(): Promise<number> {
  const turn = new Int32Array(new SharedArrayBuffer(4))
  const partner = new Worker(PARTNER, { eval: true, workerData: turn })
  await once(partner, 'message')
  try {
    return measureRounds(2 * WAKE_UPS, () => {
      for (let i = 0; i < WAKE_UPS; i++) {
        const own = Atomics.add(turn, 0, 1) + 1
        Atomics.notify(turn, 0)
        while (Atomics.load(turn, 0) === own) Atomics.wait(turn, 0, own)
      }
    })
  } finally {
    await partner.terminate()
  }
}

/** @param folder a folder on the disk to measure */
function measureSync(folder: string): number {
  using temporary = createTemporaryFolder(folder)
  const file = openSync(join(temporary.path, 'synced'), 'w')
  const block = Buffer.alloc(SYNCED_BYTES)
  try {
    return measureRounds(SYNCS, () => {
      for (let i = 0; i < SYNCS; i++) {
        writeSync(file, block)
        fdatasyncSync(file)
      }
    })
  } finally {
    closeSync(file)
  }
}

/** Creates a random cycle through all words, so that each read needs the result of the previous one. */
function createCycle(): Int32Array {
  const next = Int32Array.from({ length: MEMORY_WORDS }, (_, i) => i)
  // Sattolo's shuffle: the permutation is one cycle.
  for (let i = MEMORY_WORDS - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * i)
    const word = next[i]!
    next[i] = next[j]!
    next[j] = word
  }
  return next
}

function measureMemoryRead(): number {
  const next = createCycle()
  let at = 0
  const us = measureRounds(MEMORY_READS, () => {
    for (let i = 0; i < MEMORY_READS; i++) at = next[at]!
  })
  // The result is used, so that the compiler does not remove the loop.
  return at < 0 ? Number.NaN : us * 1_000
}

/**
 * Measures the costs of this machine in about three seconds.
 * @param folder a folder on the disk to measure
 */
export async function measureMachineCosts(folder = tmpdir()): Promise<MachineCosts> {
  return {
    systemCallUs: measureSystemCall(),
    wakeUpUs: await measureWakeUp(),
    syncUs: measureSync(folder),
    memoryReadNs: measureMemoryRead(),
  }
}

const formatNumber = (value: number) => value.toPrecision(2).replace(/e\+\d+$/, '')

/** The costs as text, without the name of the machine. */
export function formatMachineCosts({ systemCallUs, wakeUpUs, syncUs, memoryReadNs }: MachineCosts): string[] {
  const toText = (value: number) => (value < 100 ? formatNumber(value) : String(Math.round(value)))
  return [
    `system call ${toText(systemCallUs)} us`,
    `wake-up ${toText(wakeUpUs)} us`,
    `sync ${toText(syncUs)} us`,
    `memory read ${toText(memoryReadNs)} ns`,
  ]
}
