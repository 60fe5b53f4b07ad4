// What is awaited has the time that a busy machine takes.
require('@testing-library/dom').configure({ asyncUtilTimeout: 10_000 });
