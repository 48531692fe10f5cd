/** What the service did is not what the contract says. */
export class Difference extends Error {
  override readonly name = 'Difference'
  /** The keys that it is about. */
  readonly keys: readonly string[]

  constructor(
    message: string,
    { keys = [], cause }: { readonly keys?: readonly string[]; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.keys = keys
  }
}
