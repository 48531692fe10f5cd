/** Contents of `level/state.json` of a data folder. */
export { readWitness } from '../../src/level/integrity/witness.ts'
