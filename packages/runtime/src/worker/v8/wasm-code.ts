import { setFlagsFromString } from 'node:v8'

/**
 * Prevents V8 from freeing compiled WebAssembly code, for the life of the process. Call this before a thread starts.
 *
 * Threads share that code. V8 13.6 may free a wrapper around an imported function on one thread while another looks it
 * up, and then crashes (SIGSEGV in `NativeModule::FreeCode`, below `Runtime_TierUpWasmToJSWrapper`). Threads that load
 * TypeScript look it up, because Node's compiler of TypeScript is WebAssembly: one start of about 3,000 crashed, on a
 * busy machine. The code takes about 30 kB per start, and no memory if the compiled modules are cached.
 */
export function disableWasmCodeGc(): void {
  setFlagsFromString('--no-wasm-code-gc')
}
