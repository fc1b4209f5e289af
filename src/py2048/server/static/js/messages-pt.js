globalThis.messages = {
"": (n) => Number((n != 1)),
};
