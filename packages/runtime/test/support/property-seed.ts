// Vitest runs this file before each test file. With a constant seed, as `.ci/run` sets it, a failure of a property test
// comes from a change. Without one, each run draws other cases.
const { PROPERTY_SEED } = process.env

if (PROPERTY_SEED) {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ seed: Number(PROPERTY_SEED) })
}
