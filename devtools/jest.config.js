const jupyterLab = require('@jupyterlab/testing/lib/jest-config')(__dirname);

// Packages that ship ES modules only and must pass through babel.
const esModules = [
  '@codemirror',
  '@jupyter',
  '@jupyterlab',
  '@lezer',
  '@marijn',
  '@microsoft',
  'exenv-es6',
  'github-slugger',
  'lib0',
  'marked',
  'marked-gfm-heading-id',
  'marked-mangle',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'yjs'
].join('|');

module.exports = {
  ...jupyterLab,
  reporters: ['default'],
  roots: ['<rootDir>/../src'],
  // The packages of this folder are found from src/, too, after those of the front end.
  modulePaths: ['<rootDir>/node_modules'],
  setupFiles: [...jupyterLab.setupFiles, '<rootDir>/jest.setup.js'],
  setupFilesAfterEnv: [
    ...(jupyterLab.setupFilesAfterEnv ?? []),
    '<rootDir>/jest.patience.js'
  ],
  testTimeout: 30_000,
  testRegex: '/__tests__/.*\\.spec\\.tsx?$',
  transform: {
    ...jupyterLab.transform,
    // Types are checked by tsc; here they are only stripped.
    '^.+\\.tsx?$': [
      'ts-jest/legacy',
      { tsconfig: '<rootDir>/../tsconfig.test.json', diagnostics: false }
    ]
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules})/)`]
};
