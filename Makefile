# Two commands, each complete from a bare Debian 12 or Ubuntu 24.04 with git, make and apt.
.PHONY: help demo test
.DEFAULT_GOAL := help

help:
	@echo 'make demo   build, run every smoke case in every order, then show a planted leak caught'
	@echo 'make test   build and test, then again under the address, undefined and thread sanitizers'
	@echo 'Both install what is missing through apt (never CUDA) and build below build/.'

demo:
	@.ci/install-packages build
	cmake --preset release
	cmake --build --preset release --target harness
	@.ci/demo build/release/harness

test:
	@.ci/install-packages test
	@.ci/test
