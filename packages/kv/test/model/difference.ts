/** Error for behavior of the service that differs from the contract. */
export class Difference extends Error {
  override readonly name = 'Difference'
  /** Keys that the difference concerns. */
  readonly keys: readonly string[]

  constructor(
    message: string,
    { keys = [], cause }: { readonly keys?: readonly string[]; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.keys = keys
  }
}
