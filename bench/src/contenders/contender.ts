import type { Spec } from '../spec.ts'

/** A server that can be measured. */
export interface Contender {
  readonly name: string
  /** Starts it in processes of its own, ready to answer. */
  start(): Promise<Running>
  /** Of a service: what it is started with, for whoever starts it in another way. */
  readonly service?: Launch
}

export interface Running {
  readonly url: string
  /** The process whose processor time and memory count. */
  readonly pid: number
  /** Processes whose processor time counts, too. */
  readonly beside?: readonly number[]
  /** From the start of its process until it answers (ms), where that is told. */
  readonly readyIn?: number
  stop(): Promise<void>
}

/** What a service is started with. */
export interface Launch {
  readonly spec: Spec
  /** Its settings beside those of the spec; they may name what runs beside. */
  settings(): Promise<Readonly<Record<string, string>>>
  /** Puts what it shall find into its folder. */
  fill(folder: string): Promise<void>
}

/** What is measured without a server, each time in a process that the round makes. */
export const noServer = (name: string): Contender => ({
  name,
  start: async () => ({ url: '', pid: process.pid, stop: async () => {} }),
})
