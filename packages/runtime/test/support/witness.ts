/** What `level.state` of a data folder says. */
export { readWitness } from '../../src/level/integrity/witness.ts'
