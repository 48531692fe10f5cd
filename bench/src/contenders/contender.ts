/** A server that can be measured. */
export interface Contender {
  readonly name: string
  /** Starts it in processes of its own, ready to answer. */
  start(): Promise<Running>
}

export interface Running {
  readonly url: string
  /** The process whose processor time and memory count. */
  readonly pid: number
  stop(): Promise<void>
}
