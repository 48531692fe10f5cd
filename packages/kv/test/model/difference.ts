/** What the service did is not what the contract says. */
export class Difference extends Error {
  override readonly name = 'Difference'
}
