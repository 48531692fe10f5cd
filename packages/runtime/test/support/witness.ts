/** What `level/state.json` of a data folder says. */
export { readWitness } from '../../src/level/integrity/witness.ts'
