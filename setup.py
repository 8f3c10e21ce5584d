from setuptools import find_packages, setup

# The files for operators are beside the package in the checkout, and in it in a wheel.
setup(
    packages=[*find_packages(include=["wallet_api*"]), "wallet_api.config"],
    package_dir={"wallet_api.config": "config"},
)
